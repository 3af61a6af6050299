package elf

// reaper sleeps until its standard input reaches its end:
//
//	loop:	read(0, rsp, 1)
//		if it was interrupted, or read something: jmp loop
//		exit_group(0)
var reaper = []byte{
	0x31, 0xc0, // xor eax, eax
	0x31, 0xff, // xor edi, edi
	0x48, 0x89, 0xe6, // mov rsi, rsp
	0xba, 1, 0, 0, 0, // mov edx, 1
	0x0f, 0x05, // syscall
	0x48, 0x83, 0xf8, 0xfc, // cmp rax, -4 (EINTR)
	0x74, 0xec, // je loop
	0x48, 0x85, 0xc0, // test rax, rax
	0x7f, 0xe7, // jg loop
	0x31, 0xff, // xor edi, edi
	0xb8, 231, 0, 0, 0, // mov eax, 231
	0x0f, 0x05, // syscall
}

// Exit exits with status selfTestStatus:
//
//	mov edi, 7
//	mov eax, 231	// exit_group
//	syscall
var Exit = []byte{0xbf, ExitStatus, 0, 0, 0, 0xb8, 231, 0, 0, 0, 0x0f, 0x05}

// Spin uses CPU time for ever:
//
//	loop:	jmp loop
var Spin = []byte{0xeb, 0xfe}

// Hog uses memory for ever, or until its gigabyte is full:
//
//		mmap(0, 1 << 30, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0)
//	loop:	mov byte [rax], 1
//		add rax, 4096
//		jmp loop
var Hog = []byte{
	0xb8, 9, 0, 0, 0, // mov eax, 9
	0x31, 0xff, // xor edi, edi
	0xbe, 0, 0, 0, 0x40, // mov esi, 1 << 30
	0xba, 3, 0, 0, 0, // mov edx, 3
	0x41, 0xba, 0x22, 0x40, 0, 0, // mov r10d, 0x4022
	0x49, 0xc7, 0xc0, 0xff, 0xff, 0xff, 0xff, // mov r8, -1
	0x45, 0x31, 0xc9, // xor r9d, r9d
	0x0f, 0x05, // syscall
	0xc6, 0x00, 1, // mov byte [rax], 1
	0x48, 0x05, 0, 0x10, 0, 0, // add rax, 4096
	0xeb, 0xf5, // jmp loop
}

// Machine is the ELF number of the architecture.
const Machine = 62
