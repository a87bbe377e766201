/* Filters: what they keep, and the text form in which they travel. */
#include <errno.h>

#include "record/filter.h"
#include "tap.h"

#define READ(text, filter, diag) nsc_filter_read(text, sizeof(text) - 1, filter, diag)

static void keeps(void)
{
    struct nsc_filter filter = {0};
    struct nsc_diag diag;

    CHECK(nsc_filter_keeps(&filter, "main"));
    CHECK(nsc_filter_keeps(&filter, NULL));
    CHECK(nsc_filter_add(&filter, "except", "*get*", &diag) == 0);
    CHECK(nsc_filter_keeps(&filter, "main") && !nsc_filter_keeps(&filter, "A::get"));
    CHECK(nsc_filter_keeps(&filter, NULL));
    CHECK(nsc_filter_add(&filter, "only", "A::*", &diag) == 0);
    CHECK(nsc_filter_add(&filter, "only", "/^B/", &diag) == 0);
    CHECK(!nsc_filter_keeps(&filter, "main") && !nsc_filter_keeps(&filter, NULL));
    CHECK(nsc_filter_keeps(&filter, "A::set") && nsc_filter_keeps(&filter, "Bee"));
    CHECK(!nsc_filter_keeps(&filter, "A::get"));
    nsc_filter_free(&filter);
    CHECK(!nsc_filter_active(&filter));
}

static void faults(void)
{
    struct nsc_filter filter = {0};
    struct nsc_diag diag;

    CHECK(nsc_filter_add(&filter, "only", "/(/", &diag) == -EINVAL);
    CHECK(strstr(diag.message, "--only: ") != NULL);
    CHECK(nsc_filter_add(&filter, "colour", "red", &diag) == -ENOENT);
    CHECK(strstr(diag.message, "--colour") != NULL);
    CHECK(!nsc_filter_active(&filter));
}

static void text_form(void)
{
    struct nsc_filter filter = {0};
    struct nsc_diag diag;

    CHECK(READ("", &filter, &diag) == 0 && !nsc_filter_active(&filter));
    CHECK(READ("only=a=b\0except=z\0", &filter, &diag) == 0);
    CHECK(nsc_filter_keeps(&filter, "a=b") && !nsc_filter_keeps(&filter, "a"));
    CHECK(!nsc_filter_keeps(&filter, "z"));
    /* What cannot be read leaves the filter alone. */
    CHECK(READ("only=c\0except=[\0", &filter, &diag) == -EINVAL);
    CHECK(READ("only=c", &filter, &diag) == -EINVAL && diag.offset == 0);
    CHECK(READ("only=c\0x\0", &filter, &diag) == -EINVAL && diag.offset == 7);
    CHECK(READ("\0", &filter, &diag) == -EINVAL);
    CHECK(READ("=\0", &filter, &diag) == -ENOENT);
    CHECK(READ("an_option_that_is_longer_than_any_other=1\0", &filter, &diag) == -EINVAL);
    CHECK(nsc_filter_keeps(&filter, "a=b"));
    nsc_filter_free(&filter);
}

int main(void)
{
    keeps();
    faults();
    text_form();
    return t_done();
}
