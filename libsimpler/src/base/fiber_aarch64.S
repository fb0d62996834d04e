/* SPDX-License-Identifier: MIT */
/*
 * void fiber_swap(struct fiber *from, struct fiber *to)
 *
 * Save area, from the saved stack pointer upwards (struct fiber's first member points to it):
 *
 *	  0 x29, x30    16 x19, x20    32 x21, x22    48 x23, x24    64 x25, x26    80 x27, x28
 *	 96 d8, d9     112 d10, d11   128 d12, d13   144 d14, d15
 */
#ifdef __aarch64__
	.text
	.globl	fiber_swap
	.hidden	fiber_swap
	.type	fiber_swap, %function
	.p2align 4
fiber_swap:
	.cfi_startproc
	hint	#34				/* bti c */
	stp	x29, x30, [sp, #-160]!
	.cfi_def_cfa_offset 160
	.cfi_offset x29, -160
	.cfi_offset x30, -152
	stp	x19, x20, [sp, #16]
	.cfi_offset x19, -144
	.cfi_offset x20, -136
	stp	x21, x22, [sp, #32]
	.cfi_offset x21, -128
	.cfi_offset x22, -120
	stp	x23, x24, [sp, #48]
	.cfi_offset x23, -112
	.cfi_offset x24, -104
	stp	x25, x26, [sp, #64]
	.cfi_offset x25, -96
	.cfi_offset x26, -88
	stp	x27, x28, [sp, #80]
	.cfi_offset x27, -80
	.cfi_offset x28, -72
	stp	d8, d9, [sp, #96]
	stp	d10, d11, [sp, #112]
	stp	d12, d13, [sp, #128]
	stp	d14, d15, [sp, #144]
	mov	x9, sp
	str	x9, [x0]
	ldr	x9, [x1]
	mov	sp, x9
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	d8, d9, [sp, #96]
	ldp	d10, d11, [sp, #112]
	ldp	d12, d13, [sp, #128]
	ldp	d14, d15, [sp, #144]
	ldp	x29, x30, [sp], #160
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	.cfi_restore x19
	.cfi_restore x20
	.cfi_restore x21
	.cfi_restore x22
	.cfi_restore x23
	.cfi_restore x24
	.cfi_restore x25
	.cfi_restore x26
	.cfi_restore x27
	.cfi_restore x28
	ret
	.cfi_endproc
	.size	fiber_swap, . - fiber_swap

/*
 * Where the first switch to a fiber "returns" to: x19 holds the fiber. Every backtrace ends here.
 */
	.globl	fiber_base
	.hidden	fiber_base
	.type	fiber_base, %function
	.p2align 4
fiber_base:
	.cfi_startproc
	.cfi_undefined x30
	hint	#36				/* bti j */
	mov	x0, x19
	bl	fiber_main
	brk	#1
	.cfi_endproc
	.size	fiber_base, . - fiber_base
#endif
	.section .note.GNU-stack, "", %progbits
