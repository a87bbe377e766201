# nanoscope-gcc.specs.s - handed to the assembler before gcc's output (-Wa,<path of this file>): turns
# the calls that `-pg -mfentry -minstrument-return=call` makes into 5-byte sleds, and records where they
# are.
#
# gcc writes `call __fentry__`, `call *__fentry__@GOTPCREL(%rip)` or `call [QWORD PTR
# __fentry__@GOTPCREL[rip]]` at a function's entry and `call __return__` before each return and tail
# jump. A macro named `call` sees them and every other call; the latter it hands on unchanged, behind
# a pseudo prefix that keeps the macro from expanding again and is right in any mode and syntax.
#
# A sled is `test $imm32,%eax` (off); the runtime sets imm32 to the trampoline's distance and makes
# it `call rel32` (on) by its first byte. The record is struct nsc_live_site (abi/live.h): in a
# link-order section of the sled's group, so that it goes when its function goes (COMDAT, and
# --gc-sections, which ld.bfd and gold keep from all sections that have a table).
#
# Not covered: -mcmodel=large, which calls through a register; hand-written assembly that defines a
# macro `call` of its own (gas says that it is defined twice), or that passes `call` an operand with
# an unpaired quote.

.ifndef .Lnanoscope_sleds
.set .Lnanoscope_sleds, 1

.set .Lnanoscope_function, 0

# kind: enum nsc_live_site_kind; number: of the function, whose records share one section
.macro nanoscope_sled kind:req, number:req
.Lnanoscope\@:
	.byte	0xa9, 0, 0, 0, 0
	.pushsection nanoscope_sites, "ao?", @progbits, .Lnanoscope_entry\number
	.balign	4
	.long	.Lnanoscope\@ - .
	.long	\kind
	.popsection
.endm

.macro nanoscope_label number:req
.Lnanoscope_entry\number:
.endm

.macro nanoscope_entry
	.set	.Lnanoscope_function, .Lnanoscope_function + 1
	.altmacro
	nanoscope_label %.Lnanoscope_function
	nanoscope_sled 0, %.Lnanoscope_function
	.noaltmacro
.endm

.macro nanoscope_return
	.altmacro
	nanoscope_sled 1, %.Lnanoscope_function
	.noaltmacro
.endm

.macro call target:vararg
	.ifc	\target,*__fentry__@GOTPCREL(%rip)
	nanoscope_entry
	.else
	.ifc	\target,__fentry__
	nanoscope_entry
	.else
	.ifc	\target,__return__
	nanoscope_return
	.else
	.ifc	\target,[QWORD PTR __fentry__@GOTPCREL[rip]]
	nanoscope_entry
	.else
	{load} call \target
	.endif
	.endif
	.endif
	.endif
.endm
.endif
