/*
 * control_note.h - the control function of an ELF image: finds the note of
 * src/shared/abi/control.h.
 *
 * Private to reach/. An image is a file, or what a process has mapped of one; both are hostile
 * input.
 */
#ifndef NSC_PROCESS_CONTROL_NOTE_H
#define NSC_PROCESS_CONTROL_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nsc_image {
    /* Reads exactly @bytes at @at from the image's beginning, or returns false. */
    bool (*read)(void *context, uint64_t at, void *to, size_t bytes);
    void *context;
    bool mapped;        /* laid out as in memory, not as in the file */
    size_t *notes_left; /* bytes of notes that may still be read, in all images of a process */
};

/* For a process: a program has some hundred bytes of notes in each of its files. */
#define NSC_CONTROL_NOTE_NOTES_MAX (4u << 20)

/* Distances from the address where the image's first byte is mapped. */
struct nsc_located {
    uint64_t control; /* the control function */
    uint64_t note;    /* the note's field that leads to it */
};

enum nsc_control_note_class {
    NSC_CONTROL_NOTE_NOT_ELF,
    NSC_CONTROL_NOTE_32_BIT, /* or another byte order: nothing of ours */
    NSC_CONTROL_NOTE_WITHOUT,
    NSC_CONTROL_NOTE_FOUND,
};

/* Look for the note; @located is filled with NSC_CONTROL_NOTE_FOUND only. Context: allocates. */
enum nsc_control_note_class nsc_control_note_find(const struct nsc_image *image,
                                                  struct nsc_located *located);

#endif
