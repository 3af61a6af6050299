// Programs that write much. Usage: output WAY [NUMBER]
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char block[65536];

static void flood(int fd) {
	while (write(fd, block, sizeof block) > 0) {
	}
}

// put writes n bytes and returns whether that failed.
static int put(int fd, long n) {
	while (n > 0) {
		long k = write(fd, block, n < (long)sizeof block ? (size_t)n : sizeof block);
		if (k <= 0) return 1;
		n -= k;
	}
	return 0;
}

int main(int argc, char **argv) {
	if (argc < 2) return 2;
	const char *way = argv[1];
	long n = argc > 2 ? atol(argv[2]) : 0;
	memset(block, 'x', sizeof block);
	if (!strcmp(way, "stdout")) {
		flood(1);
	} else if (!strcmp(way, "stderr")) {
		flood(2);
	} else if (!strcmp(way, "stdout-bytes")) {
		return put(1, n);
	} else if (!strcmp(way, "stderr-bytes")) {
		return put(2, n);
	} else if (!strcmp(way, "file-bytes")) {
		return put(open("/tmp/bytes", O_CREAT | O_WRONLY, 0600), n);
	} else if (!strcmp(way, "file")) {
		flood(open("/tmp/flood", O_CREAT | O_WRONLY, 0600));
		return 1;
	} else if (!strcmp(way, "files")) {
		// Many files, each below the limit of one.
		char name[64];
		for (int i = 0;; i++) {
			snprintf(name, sizeof name, "/tmp/%d", i);
			int fd = open(name, O_CREAT | O_WRONLY, 0600);
			if (fd < 0 || put(fd, n) != 0) break;
			close(fd);
		}
		printf("%d\n", errno == ENOSPC);
	} else if (!strcmp(way, "sparse")) {
		int fd = open("/tmp/sparse", O_CREAT | O_WRONLY, 0600);
		signal(SIGXFSZ, SIG_IGN);
		int r = ftruncate(fd, 1L << 40);
		printf("%d %d\n", r, errno == EFBIG);
	} else if (!strcmp(way, "inodes")) {
		char name[64];
		long i = 0;
		for (;; i++) {
			snprintf(name, sizeof name, "/tmp/%ld", i);
			int fd = open(name, O_CREAT | O_WRONLY, 0600);
			if (fd < 0) break;
			close(fd);
		}
		printf("%d\n", errno == ENOSPC);
	} else if (!strcmp(way, "reopen")) {
		// What Node.js and shell scripts do.
		FILE *in = fopen("/dev/stdin", "r"), *out = fopen("/dev/stdout", "w");
		int c;
		if (in == NULL || out == NULL) return 3;
		while ((c = getc(in)) != EOF) putc(c, out);
		fclose(out);
	} else if (!strcmp(way, "spoil-input")) {
		// The input is shared with other runs and must not be changed.
		int fd = open("/proc/self/fd/0", O_RDWR);
		int truncated = ftruncate(0, 0);
		int written = fd < 0 ? -1 : (int)write(fd, "spoiled", 7);
		printf("%d %d\n", truncated, written);
	} else {
		return 2;
	}
	return 0;
}
