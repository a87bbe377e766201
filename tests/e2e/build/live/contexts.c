/* Two coroutines by ucontext, on stacks close to each other, taking turns. Needs no runtime, but
 * says so with nanoscope_switch() if there is one. */
#include <nanoscope/nanoscope.h>
#include <stdio.h>
#include <ucontext.h>

enum { TURNS = 1000 };

static ucontext_t host, guests[2];
static char stacks[2][65536];
static volatile int turns;

__attribute__((noinline)) static void turn(int who)
{
    turns += 1 + 0 * who;
}

static void guest(int who)
{
    for (int i = 0; i < TURNS; i++) {
        turn(who);
        swapcontext(&guests[who], &guests[!who]);
    }
}

int main(void)
{
    for (int i = 0; i < 2; i++) {
        getcontext(&guests[i]);
        guests[i].uc_stack.ss_sp = stacks[i];
        guests[i].uc_stack.ss_size = sizeof(stacks[i]);
        guests[i].uc_link = &host;
        makecontext(&guests[i], (void (*)(void))guest, 1, i);
    }
    swapcontext(&host, &guests[0]);
    nanoscope_switch(&host, &host);
    return turns != 2 * TURNS;
}
