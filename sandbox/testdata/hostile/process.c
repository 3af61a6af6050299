// Programs that misuse processes, signals and time. Usage: process WAY [NUMBER]
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long number = 1;

static void spin(long ms) {
	struct timespec t;
	do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
}

static void *spinner(void *unused) {
	(void)unused;
	for (volatile int i = 0;; i++) {
	}
	return NULL;
}

static void *flooder(void *unused) {
	(void)unused;
	for (;;) puts("as much as it can");
	return NULL;
}

static void *sleeper(void *unused) {
	(void)unused;
	pause();
	return NULL;
}

// timed uses some milliseconds of CPU in its own thread.
static void *timed(void *ms) {
	struct timespec t;
	do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < *(long *)ms);
	return NULL;
}

// threads lets up to 16 threads use ms milliseconds of CPU each.
static void threads(int n, long ms) {
	pthread_t t[16];
	for (int i = 0; i < n; i++) pthread_create(&t[i], NULL, timed, &ms);
	for (int i = 0; i < n; i++) pthread_join(t[i], NULL);
}

static void ignore_all(void) {
	for (int s = 1; s < 65; s++) signal(s, SIG_IGN);
}

int main(int argc, char **argv) {
	if (argc < 2) return 2;
	const char *way = argv[1];
	if (argc > 2) number = atol(argv[2]);
	if (!strcmp(way, "nothing")) return 0;
	if (!strcmp(way, "exit")) return (int)number;
	if (!strcmp(way, "fork-bomb")) {
		for (;;) fork();
	} else if (!strcmp(way, "setsid-bomb")) {
		for (;;)
			if (fork() == 0) setsid();
	} else if (!strcmp(way, "vfork-bomb")) {
		// Each child becomes this program again, so that its parent goes on.
		for (;;)
			if (vfork() == 0) {
				execl("/proc/self/exe", argv[0], way, (char *)NULL);
				_exit(1);
			}
	} else if (!strcmp(way, "clone3-bomb")) {
		struct clone_args a = {.exit_signal = SIGCHLD};
		for (;;)
			if (syscall(SYS_clone3, &a, sizeof a) < 0 && errno == ENOSYS) return 38;
	} else if (!strcmp(way, "thread-bomb")) {
		pthread_t t;
		for (;;) pthread_create(&t, NULL, sleeper, NULL);
	} else if (!strcmp(way, "orphan")) {
		// A daemon that nothing but SIGKILL ends.
		if (fork() == 0) {
			if (fork() != 0) _exit(0);
			setsid();
			ignore_all();
			for (;;) pause();
		}
		wait(NULL);
		return 0;
	} else if (!strcmp(way, "orphan-spin")) {
		if (fork() == 0) {
			setsid();
			ignore_all();
			spinner(NULL);
		}
		pause();
	} else if (!strcmp(way, "child-spin")) {
		if (fork() == 0) spinner(NULL);
		wait(NULL);
	} else if (!strcmp(way, "children-spin")) {
		// Many short children, each of which uses little.
		for (;;) {
			if (fork() == 0) {
				spin(10);
				_exit(0);
			}
			wait(NULL);
		}
	} else if (!strcmp(way, "threads-spin")) {
		pthread_t t;
		for (long i = 0; i < number; i++) pthread_create(&t, NULL, spinner, NULL);
		pause();
	} else if (!strcmp(way, "spin")) {
		spinner(NULL);
	} else if (!strcmp(way, "cpu")) {
		spin(number);
	} else if (!strcmp(way, "threads-cpu")) {
		threads(4, (number + 3) / 4);
	} else if (!strcmp(way, "children-cpu")) {
		for (int i = 0; i < 4; i++)
			if (fork() == 0) {
				spin(number / 4);
				_exit(0);
			}
		while (wait(NULL) > 0) {
		}
	} else if (!strcmp(way, "orphan-cpu")) {
		// The orphan tells when it is done, and dies only then. What the pipe
		// says is all that its grandparent learns of it.
		int p[2];
		char c;
		if (pipe(p) != 0) return 3;
		if (fork() == 0) {
			if (fork() != 0) _exit(0);
			setsid();
			spin(number);
			_exit(write(p[1], "x", 1) != 1);
		}
		wait(NULL);
		return read(p[0], &c, 1) != 1;
	} else if (!strcmp(way, "sleep")) {
		ignore_all();
		for (;;) pause();
	} else if (!strcmp(way, "nap")) {
		usleep((useconds_t)number * 1000);
	} else if (!strcmp(way, "stop")) {
		raise(SIGSTOP);
	} else if (!strcmp(way, "stop-parent")) {
		kill(getppid(), SIGSTOP);
		kill(0, SIGSTOP);
	} else if (!strcmp(way, "kill-self")) {
		raise(SIGKILL);
	} else if (!strcmp(way, "abort")) {
		abort();
	} else if (!strcmp(way, "segv")) {
		*(volatile int *)8 = 1;
	} else if (!strcmp(way, "kill-all")) {
		int r = kill(-1, SIGKILL);
		printf("%d %d\n", r, errno == ESRCH); // finds nobody
	} else if (!strcmp(way, "kill-init")) {
		int r = kill(1, SIGKILL);
		printf("%d %d %d\n", r, errno == EPERM, getppid());
	} else if (!strcmp(way, "close")) {
		close(0);
		close(1);
		close(2);
		for (;;) pause();
	} else if (!strncmp(way, "exit-main-", 10)) {
		// The first thread ends, and another one goes on.
		pthread_t t;
		const char *what = way + 10;
		if (!strcmp(what, "child") && fork() != 0) {
			usleep(20000);
			return 0;
		}
		pthread_create(&t, NULL, !strcmp(what, "sleep") ? sleeper : !strcmp(what, "flood") ? flooder : spinner, NULL);
		pthread_exit(NULL);
	} else if (!strcmp(way, "brother")) {
		long r = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
		if (r == 0) _exit(0);
		printf("%ld %d\n", r, errno == EPERM);
	} else if (!strcmp(way, "nice")) {
		int r = setpriority(PRIO_PROCESS, 0, -10);
		printf("%d %d\n", r, getpriority(PRIO_PROCESS, 0));
	} else if (!strcmp(way, "files")) {
		int n = 0;
		while (open("/dev/null", O_RDONLY) >= 0) n++;
		printf("%d %d\n", n, errno == EMFILE);
	} else if (!strcmp(way, "processes")) {
		// As many as there may be, this one among them.
		int n = 1;
		for (pid_t p; (p = fork()) >= 0; n++)
			if (p == 0)
				for (;;) pause();
		printf("%d %d\n", n, errno == EAGAIN);
	} else if (!strcmp(way, "threads")) {
		int n = 1;
		pthread_t t;
		while (n < 100000 && pthread_create(&t, NULL, sleeper, NULL) == 0) n++;
		printf("%d\n", n);
	} else if (!strcmp(way, "usage") || !strcmp(way, "threads-usage")) {
		// What it used, by its own account, in microseconds.
		struct rusage u;
		if (!strcmp(way, "usage")) spin(number);
		else threads(4, (number + 3) / 4);
		getrusage(RUSAGE_SELF, &u);
		printf("%ld\n", (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000L + u.ru_utime.tv_usec + u.ru_stime.tv_usec);
	} else {
		return 2;
	}
	return 0;
}
