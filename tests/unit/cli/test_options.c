/* test_options.c - the command line is split by the table, the same way for every command. */
#include <fcntl.h>
#include <unistd.h>

#include "cli/options.h"
#include "tap.h"

static int unused_run(const struct nsc_cli_args *args)
{
    return (int)args->option_count;
}

static const char *const help[] = {"help", NULL};
static const struct nsc_cli_option options[] = {
    {1, 's', "sort", "COLUMN"},
    {2, 'j', "json", NULL},
    {3, 'o', NULL, "FILE"},
    {0, 0, NULL, NULL},
};
static const struct nsc_cli_command plain = {"plain", help, options, 0, unused_run};
static const struct nsc_cli_command stop = {"stop", help, options, NSC_CLI_STOP_AT_OPERAND,
                                            unused_run};
static const struct nsc_cli_command pass = {"pass", help, options, NSC_CLI_PASS_UNKNOWN,
                                            unused_run};

/* Options as "id=value" and operands, all in one line. */
static const char *split(const struct nsc_cli_command *command, const char *line)
{
    static char out[512], words[256];
    char *argv[32];
    int argc = 0;
    struct nsc_cli_args args;
    bool wants_help;
    int status;
    size_t n = 0;

    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    status = nsc_cli_parse(command, argc, argv, &args, &wants_help);
    out[0] = '\0';
    if (status != 0)
        n += (size_t)snprintf(out, sizeof out, "status %d", status);
    else if (wants_help)
        n += (size_t)snprintf(out, sizeof out, "help");
    for (size_t i = 0; status == 0 && !wants_help && i < args.option_count; i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%d=%s", n != 0 ? " " : "",
                              args.options[i].id,
                              args.options[i].value != NULL ? args.options[i].value : "");
    for (size_t i = 0; status == 0 && !wants_help && i < args.operand_count; i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%s", n != 0 ? " " : "", args.operands[i]);
    nsc_cli_parse_free(&args);
    return out;
}

static void test_forms(void)
{
    CHECK_STR(split(&plain, ""), "");
    CHECK_STR(split(&plain, "--sort total a b"), "1=total a b");
    CHECK_STR(split(&plain, "a --sort=total b"), "1=total a b");
    CHECK_STR(split(&plain, "--sort= a"), "1= a");
    CHECK_STR(split(&plain, "-s total -j a"), "1=total 2= a");
    CHECK_STR(split(&plain, "-jstotal a"), "2= 1=total a");
    CHECK_STR(split(&plain, "-jo file -"), "2= 3=file -");
    CHECK_STR(split(&plain, "-j -- -s --help"), "2= -s --help");
    CHECK_STR(split(&plain, "a --help"), "help");
    CHECK_STR(split(&plain, "-h"), "help");
}

static void test_wrong(void)
{
    CHECK_STR(split(&plain, "--unknown"), "status 2");
    CHECK_STR(split(&plain, "--sor total"), "status 2");
    CHECK_STR(split(&plain, "--sort"), "status 2");
    CHECK_STR(split(&plain, "-s"), "status 2");
    CHECK_STR(split(&plain, "-x"), "status 2");
    CHECK_STR(split(&plain, "-jx"), "status 2");
    CHECK_STR(split(&plain, "--json=yes"), "status 2");
}

static void test_programs(void)
{
    CHECK_STR(split(&stop, "-j prog -j --help"), "2= prog -j --help");
    CHECK_STR(split(&stop, "-j -- prog -- x"), "2= prog -- x");
    CHECK_STR(split(&pass, "--sort=x -O2 -c a.c -j"), "1=x 2= -O2 -c a.c");
    CHECK_STR(split(&pass, "--version -h"), "--version -h");
}

int main(void)
{
    int null = open("/dev/null", O_WRONLY);

    /* The messages are not looked at here: tests/e2e/cli/test_cli does. */
    if (null < 0 || dup2(null, STDERR_FILENO) < 0)
        return 1;
    close(null);
    test_forms();
    test_wrong();
    test_programs();
    return t_done();
}
