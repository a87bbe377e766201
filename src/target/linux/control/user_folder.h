/*
 * user_folder.h - path of the user's folder in which programs and recorders listen. abi/control.h
 * has the rule; process/find/user_folder.h is the recorder's counterpart. Raw system calls only.
 */
#ifndef NSC_LINUX_CONTROL_USER_FOLDER_H
#define NSC_LINUX_CONTROL_USER_FOLDER_H

#include "abi/control.h"
#include "linux/control/small_text.h"
#include "linux/sys/sys.h"

/* Append the path of candidate @candidate, below NSC_CONTROL_FOLDERS. Returns as
 * nsc_text_append(). */
static inline char *nsc_user_folder_append(char *at, const char *end, uint32_t uid,
                                           unsigned candidate)
{
    if (candidate == 1 && uid == 0)
        return nsc_text_append(at, end, NSC_CONTROL_RUN_ROOT);
    at = nsc_text_append(at, end, candidate == 1 ? NSC_CONTROL_RUN : NSC_CONTROL_DIRECTORY);
    at = nsc_text_number(at, end, uid);
    if (candidate == 1)
        return nsc_text_append(at, end, "/nanoscope");
    if (candidate == 0)
        return at;
    at = nsc_text_append(at, end, "-");
    return nsc_text_number(at, end, candidate - 1);
}

/* Append the name of a socket in that folder, "/<pid><suffix>". Returns as nsc_text_append(). */
static inline char *nsc_user_folder_append_socket(char *at, const char *end, uint32_t pid,
                                                  const char *suffix)
{
    at = nsc_text_append(at, end, "/");
    at = nsc_text_number(at, end, pid);
    return nsc_text_append(at, end, suffix);
}

#endif
