/* note.S - what the linker of Android looks for in a library: made for API 21 and later. */
    .section .note.android.ident, "a", %note
    .balign 4
    .long 8, 4, 1
    .asciz "Android"
    .long 21
    .section .note.GNU-stack, "", %progbits
