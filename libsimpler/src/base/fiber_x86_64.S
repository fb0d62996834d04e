/* SPDX-License-Identifier: MIT */
/*
 * void fiber_swap(struct fiber *from, struct fiber *to)
 *
 * Save area, from the saved stack pointer upwards (struct fiber's first member points to it):
 *
 *	 0 r15    8 r14    16 r13    24 r12    32 rbx    40 rbp    48 return address
 *
 * It leaves by a jump: the return stack predictor expects the caller on the stack that was left, so
 * a ret would always be mispredicted, while the indirect branch predictor learns who follows whom.
 */
#ifdef __x86_64__
	.text
	.globl	fiber_swap
	.hidden	fiber_swap
	.type	fiber_swap, @function
	.p2align 4
fiber_swap:
	.cfi_startproc
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
	movq	%rsp, (%rdi)
	movq	(%rsi), %rsp
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
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	.cfi_register rip, rcx
	notrack jmp *%rcx
	.cfi_endproc
	.size	fiber_swap, . - fiber_swap

/*
 * Where the first switch to a fiber "returns" to: rbx holds the fiber. The undefined return address
 * ends every backtrace here. The stack is 16-byte aligned, as before any call.
 */
	.globl	fiber_base
	.hidden	fiber_base
	.type	fiber_base, @function
	.p2align 4
fiber_base:
	.cfi_startproc
	.cfi_undefined rip
	endbr64
	movq	%rbx, %rdi
	callq	fiber_main
	ud2
	.cfi_endproc
	.size	fiber_base, . - fiber_base
#endif
	.section .note.GNU-stack, "", %progbits
