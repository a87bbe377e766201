/* reader_rights.c - see reader_rights.h. */
#include "cli/common/reader_rights.h"

#include <stddef.h>
#include <string.h>

#include "formats/import/import.h"
#include "util/privileges/confine_reader.h"

void nsc_cli_confine(const char *output)
{
    const struct nsc_confine_reader reader = {
        .scratch = nsc_import_temporary_folder(),
        .output = output != NULL && strcmp(output, "-") != 0 ? output : NULL,
    };

    (void)nsc_confine_reader(&reader);
}

void nsc_cli_confine_server(void)
{
    const struct nsc_confine_reader reader = {.scratch = nsc_import_temporary_folder(),
                                              .serves = true};

    (void)nsc_confine_reader(&reader);
}
