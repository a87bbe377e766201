/*
 * hook_null.c - a runtime that keeps nothing, to measure hooks by themselves: one buffer a thread,
 * begun again when it is full. Linked by bench/hook_cost in place of the runtime's session and
 * threads. With NULL_TIMING=entry in the environment only entries read the timer.
 */
#include <stdlib.h>

#include "abi/hook.h"
#include "linux/events/thread.h"
#include "linux/patch/module.h"
#include "linux/session/current_session.h"

#define BUFFER_BYTES 65536

static _Thread_local uint64_t buffer[BUFFER_BYTES / 8];
static _Thread_local uint64_t end;

/* Sleds are aimed at the hooks that its flags name. */
static struct nsc_target_session session;
struct nsc_target_session *nsc_session_current = &session;

__thread struct nsc_runtime_thread nsc_runtime_tls = {.pos = 1ull << 62, .endp = &(uint64_t){0}};

void nsc_runtime_slow(uint64_t word0, uint64_t word1, uint64_t position, uint64_t slot)
{
    (void)word0;
    (void)word1;
    (void)slot;
    end = (uint64_t)(uintptr_t)buffer + BUFFER_BYTES;
    nsc_runtime_tls.pos = (uint64_t)(uintptr_t)buffer;
    nsc_runtime_tls.endp = &end;
    nsc_runtime_tls.anchor_low = position - NSC_LIVE_ANCHOR_REACH;
}

int nsc_thread_present(struct nsc_place *to)
{
    (void)to;
    return 0;
}

void nsc_thread_lose(const struct nsc_place *p, uint64_t events)
{
    (void)p;
    (void)events;
}

void nsc_runtime_module_load(struct nsc_runtime_module *module)
{
    struct nsc_live_module elf = {0};

    if (getenv("NULL_TIMING") != NULL)
        session.flags = NSC_LIVE_FLAG_ENTRY_TIMING;
    if (nsc_elf_describe(module->elf_header, &elf) == 0)
        nsc_patch_module(module, elf.bias, &(struct nsc_patch_verdict){.on = 1});
}

void nsc_runtime_module_unload(struct nsc_runtime_module *module)
{
    (void)module;
}
