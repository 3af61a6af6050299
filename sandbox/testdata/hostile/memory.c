// Programs that use much memory, each in another way. Usage: memory WAY MEBIBYTES
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static char big[1L << 30];

static void touch(char *p, size_t n) {
	for (size_t i = 0; i < n; i += 4096) ((volatile char *)p)[i] = 1;
}

static int depth(int n) {
	volatile char frame[4096];
	frame[0] = (char)n;
	return n == 0 ? frame[0] : depth(n - 1) + frame[0];
}

static void fill(int fd, size_t n) {
	static char block[1 << 20];
	memset(block, 1, sizeof block);
	for (size_t done = 0; done < n; done += sizeof block)
		if (write(fd, block, sizeof block) != (ssize_t)sizeof block) exit(42);
}

static void *threaded(void *arg) {
	touch(malloc(*(size_t *)arg), *(size_t *)arg);
	return NULL;
}

int main(int argc, char **argv) {
	if (argc < 3) return 2;
	size_t n = (size_t)atol(argv[2]) << 20;
	const char *way = argv[1];
	if (!strcmp(way, "heap")) {
		touch(malloc(n), n);
	} else if (!strcmp(way, "stack")) {
		depth((int)(n / 4096));
	} else if (!strcmp(way, "static")) {
		touch(big, n);
	} else if (!strcmp(way, "mmap")) {
		touch(mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), n);
	} else if (!strcmp(way, "shared")) {
		touch(mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), n);
	} else if (!strcmp(way, "memfd")) {
		fill(memfd_create("m", 0), n);
	} else if (!strcmp(way, "tmp")) {
		fill(open("/tmp/m", O_CREAT | O_WRONLY, 0600), n);
	} else if (!strcmp(way, "shm")) {
		fill(open("/dev/shm/m", O_CREAT | O_WRONLY, 0600), n);
	} else if (!strcmp(way, "thread")) {
		pthread_t t;
		pthread_create(&t, NULL, threaded, &n);
		pthread_join(t, NULL);
	} else if (!strcmp(way, "child")) {
		if (fork() == 0) {
			touch(malloc(n), n);
			_exit(0);
		}
		wait(NULL); // the parent itself is small, and ends well
	} else if (!strcmp(way, "children")) {
		// They have it at the same time.
		int p[2];
		char c;
		if (pipe(p) != 0) return 3;
		for (int i = 0; i < 8; i++)
			if (fork() == 0) {
				touch(malloc(n / 8), n / 8);
				if (write(p[1], "x", 1) == 1) pause();
				_exit(0);
			}
		for (int i = 0; i < 8; i++)
			if (read(p[0], &c, 1) != 1) return 3;
		signal(SIGTERM, SIG_IGN);
		kill(0, SIGTERM);
	} else if (!strcmp(way, "hold")) {
		// Children that have it for ever.
		for (int i = 0; i < 8; i++)
			if (fork() == 0) {
				touch(malloc(n / 8), n / 8);
				for (;;) pause();
			}
		for (;;) pause();
	} else if (!strcmp(way, "reserve")) {
		// Reserving is not using.
		if (mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED) return 3;
	} else if (!strcmp(way, "again")) {
		// The same pages forty times, one after the other.
		char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (int i = 0; i < 40; i++) {
			touch(p, n);
			madvise(p, n, MADV_DONTNEED);
		}
	} else if (strcmp(way, "none") != 0) {
		return 2;
	}
	return 0;
}
