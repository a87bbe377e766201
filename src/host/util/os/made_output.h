/*
 * made_output.h - outputs whose name the user did not give.
 *
 * Such an output lies where the command chose, perhaps in a folder that other users can read. So it
 * must not show them more than the input does, and in a folder where other users create files it
 * must not replace one. Like umask(2), this holds for the process, whatever part of it creates the
 * files. Called by cli/, and by what creates outputs. Set it before other threads run.
 */
#ifndef NSC_UTIL_OS_MADE_OUTPUT_H
#define NSC_UTIL_OS_MADE_OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

/* From now on outputs have made names, and no rights for other users. @replaces: they replace
 * regular files. */
void nsc_made_output_begin(bool replaces);
/* Allow these rights, too, in outputs with made names. Has no effect on others. */
void nsc_made_output_allow(mode_t rights);

/* Return the mode to create an output with, which umask reduces further: @mode, less the rights
 * that an output with a made name must not have. */
mode_t nsc_made_output_mode(mode_t mode);
/* Whether an output may replace a regular file. */
bool nsc_made_output_replaces(void);

#endif
