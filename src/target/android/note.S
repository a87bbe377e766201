/* note.S - ELF note for Android's dynamic linker: the library is built for API 21 and later. */
    .section .note.android.ident, "a", %note
    .balign 4
    .long 8, 4, 1
    .asciz "Android"
    .long 21
    .section .note.GNU-stack, "", %progbits
