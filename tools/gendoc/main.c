/*
 * gendoc - from a command's manual source to everything that must agree with it.
 *
 *   gendoc header VERB.md                 enum of option ids, for the command's own file
 *   gendoc commands OVERVIEW.md VERB.md...  the table of all commands, for cli/main.c
 *   gendoc man VERSION VERB.md            manual page
 *   gendoc bash|zsh VERB.md...            shell completion
 *
 * Run by the Makefile; writes to stdout. See doc.h for the form of the sources.
 */
#include <stdlib.h>
#include <string.h>

#include "doc.h"

static struct doc **read_all(char **paths, size_t count)
{
    struct doc **docs = calloc(count + 1, sizeof *docs);

    if (docs == NULL)
        doc_die("gendoc", "out of memory");
    for (size_t i = 0; i < count; i++)
        docs[i] = doc_read(paths[i]);
    return docs;
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    size_t rest = argc > 2 ? (size_t)argc - 2 : 0;

    if (strcmp(what, "header") == 0 && rest == 1)
        emit_header(stdout, doc_read(argv[2]));
    else if (strcmp(what, "commands") == 0)
        emit_commands(stdout, doc_read(argv[2]), read_all(argv + 3, rest - 1), rest - 1);
    else if (strcmp(what, "man") == 0 && rest == 2)
        emit_man(stdout, doc_read(argv[3]), argv[2]);
    else if (strcmp(what, "bash") == 0)
        emit_bash(stdout, read_all(argv + 2, rest), rest);
    else if (strcmp(what, "zsh") == 0)
        emit_zsh(stdout, read_all(argv + 2, rest), rest);
    else
        doc_die("gendoc", "usage: gendoc header|commands|man|bash|zsh ...");
    return fflush(stdout) == 0 ? 0 : 1;
}
