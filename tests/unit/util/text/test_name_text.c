/* Names as line-based formats have them: nothing in them that a terminal obeys. */
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "util/text/name_text.h"

static void check(const char *name, const char *wanted)
{
    size_t bytes;
    char *visible = nsc_names_visible(name, ";", ':', &bytes);

    CHECK_STR(visible, wanted);
    CHECK(bytes == strlen(wanted));
    free(visible);
}

int main(void)
{
    size_t bytes;
    char *line;

    check("main", "main");
    check("a;b\nc\rd\te\x1b[31mf\x7f", "a:b:c:d:e:[31mf:");
    check("\xc2\x9b[31m", "::[31m"); /* CSI in one character */
    check("\xc2\xa0\xc3\xa4\xc2", "\xc2\xa0\xc3\xa4\xc2");
    check("", "");
    line = nsc_names_line("a;\x1b]0;t\x07\xc2\x9b\xff", &bytes);
    CHECK_STR(line, "a;?]0;t?\?\?\xef\xbf\xbd");
    free(line);
    return t_done();
}
