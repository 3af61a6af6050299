// A program that reads a file again and again, with much memory of its own.
// Usage: reread FILE MEBIBYTES TIMES
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(int argc, char **argv) {
	if (argc < 4) return 2;
	size_t n = (size_t)atol(argv[2]) << 20;
	int fd = open(argv[1], O_RDONLY);
	struct stat s;
	if (fd < 0 || fstat(fd, &s)) return 3;
	volatile char *file = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED) return 4;
	volatile char *own = malloc(n);
	for (size_t at = 0; at < n; at += 4096) own[at] = 1;
	for (long times = atol(argv[3]); times > 0; times--)
		for (off_t at = 0; at < s.st_size; at += 4096) (void)file[at];
	return 0;
}
