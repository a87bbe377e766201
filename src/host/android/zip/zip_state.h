/* zip_state.h - an open archive; between zip_open.c, zip_list.c and zip_data.c only. */
#ifndef NSC_ANDROID_ZIP_ZIP_STATE_H
#define NSC_ANDROID_ZIP_ZIP_STATE_H

#include "android/zip/zip_reader.h"

struct nsc_zip {
    int fd;
    char *path;
    struct nsc_zip_layout layout;
    uint64_t declared; /* number of entries, as the end of the central directory has it */
    uint8_t *central;  /* the central directory; entries point into it */
    char *names;       /* all of them, each with a NUL */
    struct nsc_zip_entry *entries;
    uint32_t count;
    uint32_t *by_name; /* indices of entries in the order of their names */
};

/* Fill entries, names and by_name from the central directory, which is read, and check each against
 * its local header and the others. Returns 0 or -errno with @diag. */
int nsc_zip_list(struct nsc_zip *z, struct nsc_diag *diag);

#endif
