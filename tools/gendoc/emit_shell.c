/* emit_shell.c - completion for bash and zsh: verbs, options, the words an option takes, files. */
#include <string.h>

#include "doc.h"

/* What completes an option's argument or a verb's operands, by the word the manual uses for it. */
static const char *kind_of(const char *word)
{
    if (strstr(word, "DIR") != NULL || strstr(word, "FOLDER") != NULL)
        return "folder";
    if (strstr(word, "FILE") != NULL || strstr(word, "TRACE") != NULL ||
        strstr(word, "PATH") != NULL)
        return "file";
    if (strstr(word, "PROGRAM") != NULL)
        return "command";
    return "";
}

static const char *operands_of(const struct doc *doc)
{
    const struct section *s = doc_section(doc, "Usage");

    return s->body.count != 0 ? kind_of(s->body.at[0].text) : "";
}

/* Pattern of a shell `case` that matches the option: "-s|--sort". */
static void put_pattern(FILE *out, const struct option *o)
{
    if (o->letter != '\0')
        fprintf(out, "-%c%s", o->letter, o->name != NULL ? "|" : "");
    if (o->name != NULL)
        fprintf(out, "--%s", o->name);
}

static void put_bash_verb(FILE *out, const struct doc *doc)
{
    const struct section *s = doc_section(doc, "Options");
    size_t count = s != NULL ? s->option_count : 0;

    fprintf(out, "    %s)\n        case $prev in\n", doc->verb);
    for (size_t i = 0; i < count; i++) {
        const struct option *o = &s->options[i];

        if (o->argument == NULL)
            continue;
        fputs("        ", out);
        put_pattern(out, o);
        if (o->values != NULL)
            fprintf(out, ") words='%s' ;;\n", o->values);
        else
            fprintf(out, ") kind='%s' ;;\n", *kind_of(o->argument) ? kind_of(o->argument) : "none");
    }
    fprintf(out, "        *) kind='%s'\n           options='--help", operands_of(doc));
    for (size_t i = 0; i < count; i++) {
        if (s->options[i].letter != '\0')
            fprintf(out, " -%c", s->options[i].letter);
        if (s->options[i].name != NULL)
            fprintf(out, " --%s", s->options[i].name);
    }
    fprintf(out, "' ;;\n        esac ;;\n");
}

void emit_bash(FILE *out, struct doc *const *docs, size_t count)
{
    fputs("# bash completion for nanoscope; made from docs/man: do not edit.\n"
          "_nanoscope() {\n"
          "    local cur prev verb words='' options='' kind=''\n"
          "    COMPREPLY=()\n"
          "    cur=${COMP_WORDS[COMP_CWORD]}\n"
          "    prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W '--help --version",
          out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, " %s", docs[i]->verb);
    fputs("' -- \"$cur\")\n        return\n    fi\n"
          "    verb=${COMP_WORDS[1]}\n"
          "    case $verb in\n",
          out);
    for (size_t i = 0; i < count; i++)
        put_bash_verb(out, docs[i]);
    fputs("    esac\n"
          "    if [ -n \"$words\" ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
          "    elif [ -n \"$options\" ] && [[ $cur == -* ]]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
          "    else\n"
          "        case $kind in\n"
          "        folder) mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
          "        file) mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
          "        command) mapfile -t COMPREPLY < <(compgen -c -- \"$cur\") ;;\n"
          "        esac\n"
          "        [ -n \"$kind\" ] && compopt -o filenames 2>/dev/null\n"
          "    fi\n"
          "}\n"
          "complete -F _nanoscope nanoscope\n",
          out);
}

/* Text inside a zsh '...[description]' argument: no quote, bracket or markup. */
static void put_zsh_text(FILE *out, const char *text)
{
    for (; *text != '\0' && strncmp(text, ". ", 2) != 0; text++)
        if (strchr("'[]`*:\\", *text) == NULL)
            putc(*text, out);
}

static void put_zsh_kind(FILE *out, const char *kind)
{
    if (strcmp(kind, "file") == 0)
        fputs("_files", out);
    else if (strcmp(kind, "folder") == 0)
        fputs("_files -/", out);
    else if (strcmp(kind, "command") == 0)
        fputs("_command_names -e", out);
}

static void put_zsh_option(FILE *out, const char *name, const struct option *o)
{
    fprintf(out, " \\\n            '*%s[", name);
    if (o->body.count != 0)
        put_zsh_text(out, o->body.at[0].text);
    putc(']', out);
    if (o->argument != NULL) {
        fprintf(out, ":%s:", o->argument);
        if (o->values != NULL)
            fprintf(out, "(%s)", o->values);
        else
            put_zsh_kind(out, kind_of(o->argument));
    }
    putc('\'', out);
}

static void put_zsh_verb(FILE *out, const struct doc *doc)
{
    const struct section *s = doc_section(doc, "Options");
    char name[80];

    fprintf(out, "    %s)\n        _arguments '--help[help for %s]'", doc->verb, doc->verb);
    for (size_t i = 0; s != NULL && i < s->option_count; i++) {
        if (s->options[i].letter != '\0') {
            snprintf(name, sizeof name, "-%c", s->options[i].letter);
            put_zsh_option(out, name, &s->options[i]);
        }
        if (s->options[i].name != NULL) {
            snprintf(name, sizeof name, "--%s%s", s->options[i].name,
                     s->options[i].argument != NULL ? "=" : "");
            put_zsh_option(out, name, &s->options[i]);
        }
    }
    if (*operands_of(doc) != '\0') {
        fputs(" \\\n            '*:operand:", out);
        put_zsh_kind(out, operands_of(doc));
        putc('\'', out);
    }
    fputs(" ;;\n", out);
}

void emit_zsh(FILE *out, struct doc *const *docs, size_t count)
{
    fputs("#compdef nanoscope\n"
          "# zsh completion for nanoscope; made from docs/man: do not edit.\n"
          "local -a verbs\n"
          "if (( CURRENT == 2 )); then\n    verbs=(\n",
          out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "        '%s:", docs[i]->verb);
        put_zsh_text(out, docs[i]->summary);
        fputs("'\n", out);
    }
    fputs("    )\n    _describe 'command' verbs\n    return\nfi\n"
          "local verb=$words[2]\n"
          "shift words\n(( CURRENT-- ))\n"
          "case $verb in\n",
          out);
    for (size_t i = 0; i < count; i++)
        put_zsh_verb(out, docs[i]);
    fputs("esac\n", out);
}
