/* zip_state.h - state of an open archive, shared by zip_open.c, zip_list.c and zip_data.c only. */
#ifndef NSC_ANDROID_ZIP_ZIP_STATE_H
#define NSC_ANDROID_ZIP_ZIP_STATE_H

#include "android/zip/zip_reader.h"

struct nsc_zip {
    int fd;
    char *path;
    struct nsc_zip_layout layout;
    uint64_t declared; /* number of entries by the end of central directory record */
    uint8_t *central;  /* the central directory; entries point into it */
    char *names;       /* all names, each NUL terminated */
    struct nsc_zip_entry *entries;
    uint32_t count;
    uint32_t *by_name; /* indices of entries, sorted by name */
};

/* Fill entries, names and by_name from the loaded central directory, and check each entry against
 * its local header and the other entries. Returns 0 or -errno with @diag. */
int nsc_zip_list(struct nsc_zip *z, struct nsc_diag *diag);

#endif
