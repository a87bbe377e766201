/*
 * control_note.h - find the control function of an ELF image, by the ELF note that
 * src/shared/abi/control.h defines.
 *
 * Private to process/. An image is a file, or a file as a process has mapped it; both are untrusted
 * input.
 */
#ifndef NSC_PROCESS_FIND_CONTROL_NOTE_H
#define NSC_PROCESS_FIND_CONTROL_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nsc_image {
    /* Reads exactly @bytes at offset @at of the image, or returns false. */
    bool (*read)(void *context, uint64_t at, void *to, size_t bytes);
    void *context;
    bool mapped;        /* laid out as in memory, not as in the file */
    size_t *notes_left; /* limit of note bytes still to be read, over all images of a process */
};

/* Limit per process, in bytes. Usual files have a few hundred bytes of notes each. */
#define NSC_CONTROL_NOTE_NOTES_MAX (4u << 20)

/* Offsets from the address where the image's first byte is mapped. */
struct nsc_located {
    uint64_t control; /* the control function */
    uint64_t note;    /* the note's data, which holds the distance to the control function */
};

enum nsc_control_note_class {
    NSC_CONTROL_NOTE_NOT_ELF,
    NSC_CONTROL_NOTE_32_BIT, /* or another byte order; not supported */
    NSC_CONTROL_NOTE_WITHOUT,
    NSC_CONTROL_NOTE_FOUND,
};

/* Find the note. Fills @located only if it returns NSC_CONTROL_NOTE_FOUND. Context: allocates. */
enum nsc_control_note_class nsc_control_note_find(const struct nsc_image *image,
                                                  struct nsc_located *located);

#endif
