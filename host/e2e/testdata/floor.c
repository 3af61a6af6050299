// What judging costs at least: for each test a program is started by vfork and
// exec with the input as standard input, waited for, and its output compared
// with the answer. Nothing is bounded, contained or told.
//
//	floor FOLDER JOBS AT_ONCE PROGRAM [ARGUMENT...]
//
// FOLDER holds 001.in and 001.ans, 002.in and so on. It prints the nanoseconds
// on the clock, the microseconds of CPU time, and how many tests were passed.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char got[1 << 16], want[1 << 16];

static void fail(const char *what) {
	perror(what);
	exit(1);
}

// passes runs the program on a test, and says whether its output is the answer.
static int passes(const char *in, const char *ans, int out, char **argv) {
	int input = open(in, O_RDONLY | O_CLOEXEC);
	if (input < 0 || ftruncate(out, 0) || lseek(out, 0, SEEK_SET))
		fail(in);
	pid_t pid = vfork();
	if (pid == 0) {
		dup2(input, 0);
		dup2(out, 1);
		execv(argv[0], argv);
		_exit(127);
	}
	int status;
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		fail("vfork");
	close(input);
	int answer = open(ans, O_RDONLY | O_CLOEXEC);
	ssize_t n = pread(out, got, sizeof got, 0), m = read(answer, want, sizeof want);
	close(answer);
	return status == 0 && n == m && n >= 0 && memcmp(got, want, n) == 0;
}

int main(int argc, char **argv) {
	if (argc < 5) {
		fprintf(stderr, "usage: floor FOLDER JOBS AT_ONCE PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	int jobs = atoi(argv[2]), at_once = atoi(argv[3]), tests = 0;
	char path[2][4096];
	for (;; tests++) {
		snprintf(path[0], sizeof path[0], "%s/%03d.in", argv[1], tests + 1);
		if (access(path[0], R_OK))
			break;
	}
	int done[2];
	if (pipe2(done, O_CLOEXEC))
		fail("pipe");
	struct timespec from, to;
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int k = 0; k < at_once; k++) {
		pid_t pid = fork();
		if (pid < 0)
			fail("fork");
		if (pid)
			continue;
		int out = memfd_create("output", MFD_CLOEXEC), passed = 0;
		for (int j = k; j < jobs; j += at_once)
			for (int t = 1; t <= tests; t++) {
				snprintf(path[0], sizeof path[0], "%s/%03d.in", argv[1], t);
				snprintf(path[1], sizeof path[1], "%s/%03d.ans", argv[1], t);
				passed += passes(path[0], path[1], out, argv + 4);
			}
		return write(done[1], &passed, sizeof passed) != sizeof passed;
	}
	int passed = 0;
	for (int k = 0; k < at_once; k++) {
		int one, status;
		if (wait(&status) < 0 || status || read(done[0], &one, sizeof one) != sizeof one)
			fail("wait");
		passed += one;
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	struct rusage used;
	getrusage(RUSAGE_CHILDREN, &used);
	printf("%lld %lld %d\n", (to.tv_sec - from.tv_sec) * 1000000000LL + to.tv_nsec - from.tv_nsec,
		(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000LL + used.ru_utime.tv_usec + used.ru_stime.tv_usec, passed);
	return 0;
}
