/*
 * victim.c - a privileged program that asks again and again whether it may, and says so when the
 * answer changes. Linked to a fixed address, as its attacker has to know where its code is.
 */
#include <stdio.h>
#include <unistd.h>

#include "guarded_call.h"

int main(void)
{
    puts("ready");
    fflush(stdout);
    for (;;) {
        if (ask() != 0) {
            puts("entered");
            fflush(stdout);
            return 0;
        }
        usleep(1000);
    }
}
