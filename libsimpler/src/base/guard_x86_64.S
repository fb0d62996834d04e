/* SPDX-License-Identifier: MIT */
/*
 * int guard_enter(struct guard_frame *frame, void (*fn)(void *), void *arg)
 *
 * Save area, from the saved stack pointer upwards (frame's first member points to it while the call
 * is armed):
 *
 *	 0 mxcsr    4 x87 control word    8 r15    16 r14    24 r13    32 r12    40 rbx    48 rbp    56 return address
 *
 * guard_exit is where the signal handler lets an ended call continue, with the stack pointer at the
 * save area. The personality stops C++ exceptions here, since nobody between here and main() would
 * disarm the frame.
 */
#ifdef __x86_64__
	.text
	.globl	guard_enter
	.hidden	guard_enter
	.type	guard_enter, @function
	.globl	guard_exit
	.hidden	guard_exit
	.hidden	guard_personality
	.p2align 4
guard_enter:
	.cfi_startproc
	.cfi_personality 0x1b, guard_personality
	endbr64
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	pushq	%r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r12, 0
	pushq	%r13
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r13, 0
	pushq	%r14
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r14, 0
	pushq	%r15
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r15, 0
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	stmxcsr	(%rsp)
	fnstcw	4(%rsp)
	movq	%rdi, %rbx
	movq	%rsp, (%rbx)			/* armed */
	movq	%rdx, %rdi
	callq	*%rsi
	movq	$0, (%rbx)			/* disarmed */
	xorl	%eax, %eax
.Lrestore:
	.cfi_remember_state
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%r15
	.cfi_adjust_cfa_offset -8
	.cfi_restore r15
	popq	%r14
	.cfi_adjust_cfa_offset -8
	.cfi_restore r14
	popq	%r13
	.cfi_adjust_cfa_offset -8
	.cfi_restore r13
	popq	%r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore r12
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbx
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbp
	ret
	.cfi_restore_state
guard_exit:
	fninit					/* the x87 stack may be full, an exception pending */
	fldcw	4(%rsp)
	ldmxcsr	(%rsp)
	movl	$1, %eax
	jmp	.Lrestore
	.cfi_endproc
	.size	guard_enter, . - guard_enter
#endif
	.section .note.GNU-stack, "", %progbits
