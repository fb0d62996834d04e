/* SPDX-License-Identifier: MIT */
/*
 * int guard_enter(struct guard_frame *frame, void (*fn)(void *), void *arg)
 *
 * Save area, from the saved stack pointer upwards (frame's first member points to it while the call
 * is armed):
 *
 *	  0 x29, x30    16 x19, x20    32 x21, x22    48 x23, x24    64 x25, x26    80 x27, x28
 *	 96 d8, d9     112 d10, d11   128 d12, d13   144 d14, d15   160 fpcr
 *
 * guard_exit is where the signal handler lets an ended call continue, with the stack pointer at the
 * save area. The personality stops C++ exceptions here, since nobody between here and main() would
 * disarm the frame.
 */
#ifdef __aarch64__
	.text
	.globl	guard_enter
	.hidden	guard_enter
	.type	guard_enter, %function
	.globl	guard_exit
	.hidden	guard_exit
	.hidden	guard_personality
	.p2align 4
guard_enter:
	.cfi_startproc
	.cfi_personality 0x1b, guard_personality
	hint	#34				/* bti c */
	stp	x29, x30, [sp, #-176]!
	.cfi_def_cfa_offset 176
	.cfi_offset x29, -176
	.cfi_offset x30, -168
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	.cfi_offset x19, -160
	.cfi_offset x20, -152
	stp	x21, x22, [sp, #32]
	.cfi_offset x21, -144
	.cfi_offset x22, -136
	stp	x23, x24, [sp, #48]
	.cfi_offset x23, -128
	.cfi_offset x24, -120
	stp	x25, x26, [sp, #64]
	.cfi_offset x25, -112
	.cfi_offset x26, -104
	stp	x27, x28, [sp, #80]
	.cfi_offset x27, -96
	.cfi_offset x28, -88
	stp	d8, d9, [sp, #96]
	stp	d10, d11, [sp, #112]
	stp	d12, d13, [sp, #128]
	stp	d14, d15, [sp, #144]
	mrs	x9, fpcr
	str	x9, [sp, #160]
	mov	x19, x0
	mov	x9, sp
	str	x9, [x19]			/* armed */
	mov	x0, x2
	blr	x1
	str	xzr, [x19]			/* disarmed */
	mov	w0, #0
.Lrestore:
	.cfi_remember_state
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	d8, d9, [sp, #96]
	ldp	d10, d11, [sp, #112]
	ldp	d12, d13, [sp, #128]
	ldp	d14, d15, [sp, #144]
	ldp	x29, x30, [sp], #176
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
	.cfi_restore_state
guard_exit:
	ldr	x9, [sp, #160]
	msr	fpcr, x9
	mov	w0, #1
	b	.Lrestore
	.cfi_endproc
	.size	guard_enter, . - guard_enter
#endif
	.section .note.GNU-stack, "", %progbits
