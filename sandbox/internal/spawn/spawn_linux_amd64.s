#include "textflag.h"

// func forkSteps(args *cloneArgs, size uintptr, steps *step, n uintptr, failed *stepFailure) (pid, errno uintptr)
//
// The child shares our memory and stack, so it touches neither: all it needs is
// in registers, and it never returns. It runs no Go code.
//
//	R12 next step, R13 steps left, BX where to report
TEXT ·forkSteps(SB), NOSPLIT, $0-56
	MOVQ args+0(FP), DI
	MOVQ size+8(FP), SI
	MOVQ steps+16(FP), R12
	MOVQ n+24(FP), R13
	MOVQ failed+32(FP), BX
	MOVQ $435, AX             // clone3
	SYSCALL
	TESTQ AX, AX
	JZ   child
	CMPQ AX, $0xfffffffffffff001
	JCC  refused
	MOVQ AX, pid+40(FP)
	MOVQ $0, errno+48(FP)
	RET

refused:
	NEGQ AX
	MOVQ $0, pid+40(FP)
	MOVQ AX, errno+48(FP)
	RET

child:
	TESTQ R13, R13
	JZ    leave
	MOVQ 0(R12), AX
	MOVQ 8(R12), DI
	MOVQ 16(R12), SI
	MOVQ 24(R12), DX
	MOVQ 32(R12), R10
	MOVQ 40(R12), R8
	MOVQ 48(R12), R9
	SYSCALL
	CMPQ AX, $0xfffffffffffff001
	JCC  failure
	ADDQ $56, R12
	DECQ R13
	JMP  child

failure:
	NEGQ AX
	MOVQ AX, 0(BX)
	MOVQ R13, 8(BX)

leave:
	MOVQ $231, AX             // exit_group
	MOVQ $253, DI
	SYSCALL
	JMP  leave
