// System calls of other architectures. Usage: foreign i386|x32
#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
	if (argc < 2) return 2;
	if (!strcmp(argv[1], "i386")) {
		int r;
		__asm__ volatile("int $0x80" : "=a"(r) : "a"(20) : "memory"); // getpid
		return r > 0 ? 0 : 1;
	}
	return syscall(0x40000000 + SYS_getpid) > 0 ? 0 : 1;
}
