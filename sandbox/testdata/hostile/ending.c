// Tasks of which one ends before another. Usage: ending FLAGS FIRST DOES
//   FLAGS  flags of clone for a task more, in hexadecimal; 0 = none
//   FIRST  what ends first, or how the task that is left came to be
//   DOES   what that one does
// It says on standard error whether there is a task more, or why not.
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// READY is where the last task says that it is there, also after it has executed.
enum { READY = 9 };

static const char *flags, *first, *does;
static int pidfd, parent_id, child_id;

static _Noreturn void wait_for_ever(void) {
	for (;;) pause();
}

// act is what the task does that is left.
static _Noreturn void act(void) {
	static char text[1 << 16];
	if (!strcmp(does, "spins"))
		for (volatile unsigned n = 0;; n++) {
		}
	struct timespec moment = {.tv_nsec = 1000000};
	if (!strcmp(does, "fills"))
		for (int n = 0; n < 128; n++, nanosleep(&moment, NULL)) { // MiB, so that the machine bears a flaw
			char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (p != MAP_FAILED) memset(p, 1, 1 << 20);
		}
	if (!strcmp(does, "writes"))
		for (;;)
			if (write(1, text, sizeof text) < 0) _exit(3);
	if (!strcmp(does, "stays") && write(READY, "x", 1) != 1) _exit(4);
	if (!strcmp(does, "tells") && write(1, "x", 1) != 1) _exit(5);
	wait_for_ever();
}

static void *actor(void *unused) {
	(void)unused;
	act();
}

// executor becomes this program anew, from a thread that is not the first.
static void *executor(void *unused) {
	(void)unused;
	execl("/proc/thread-self/exe", "ending", "0", "nobody", does, (char *)NULL);
	_exit(6);
}

static void start(void *(*f)(void *)) {
	pthread_t t;
	if (pthread_create(&t, NULL, f, NULL) != 0) _exit(7);
}

// leave ends the calling thread, as pthread_exit does.
static _Noreturn void leave(void) {
	for (;;) syscall(SYS_exit, 0);
}

// part lets something end first, and what is left act.
static _Noreturn void part(void) {
	if (!strcmp(first, "leader")) {
		start(actor);
		leave();
	} else if (!strcmp(first, "executed")) {
		start(executor);
		wait_for_ever();
	} else if (!strcmp(first, "leader-executed")) {
		start(executor);
		leave();
	} else if (!strcmp(first, "leader-of-child")) {
		if (fork() != 0) wait_for_ever();
		start(actor);
		leave();
	} else if (!strcmp(first, "parent") || !strcmp(first, "daemon")) {
		if (fork() != 0) {
			wait(NULL);
			wait_for_ever();
		}
		if (fork() != 0) _exit(0);
		if (!strcmp(first, "daemon")) {
			setsid();
			for (int s = 1; s < 65; s++) signal(s, SIG_IGN);
		}
	} else if (!strcmp(first, "vfork")) {
		if (vfork() != 0) wait_for_ever();
	} else if (!strcmp(first, "stopped")) {
		if (fork() != 0) wait_for_ever();
		kill(getppid(), SIGSTOP);
	}
	act();
}

static int brother(void *unused) {
	(void)unused;
	if (!strcmp(first, "child")) syscall(SYS_exit, 0);
	wait_for_ever();
}

static int successor(void *unused) {
	dprintf(2, "worked\n");
	if (!strcmp(first, "child")) brother(unused);
	part();
}

// another makes a task more.
static void another(void) {
	unsigned long want = strtoul(flags, NULL, 16), tls = 0;
	if (want == 0) return;
	if (want & CLONE_THREAD) want |= CLONE_SIGHAND;
	if (want & CLONE_SIGHAND) want |= CLONE_VM;
	if ((want & CLONE_THREAD) == 0) want |= SIGCHLD;
	const size_t size = 1 << 20;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED || syscall(SYS_arch_prctl, ARCH_GET_FS, &tls) != 0) _exit(8);
	// Who makes a task with CLONE_VFORK waits until it ends: that one speaks and acts.
	int (*f)(void *) = want & CLONE_VFORK ? successor : brother;
	int made = clone(f, stack + size, (int)want, NULL, want & CLONE_PIDFD ? &pidfd : &parent_id, (void *)tls, &child_id);
	if (made < 0) dprintf(2, "%s\n", strerrorname_np(errno));
	else if ((want & CLONE_VFORK) == 0) dprintf(2, "worked\n");
}

int main(int argc, char **argv) {
	if (argc != 4) return 2;
	flags = argv[1], first = argv[2], does = argv[3];
	if (!strcmp(does, "leaves")) {
		// The first process ends well, when the rest is there.
		int ready[2];
		char c;
		if (pipe(ready) != 0) return 3;
		if (fork() != 0) {
			close(ready[1]);
			return read(ready[0], &c, 1) != 1;
		}
		if (dup2(ready[1], READY) != READY) return 4;
		close(ready[0]);
		close(ready[1]);
		does = "stays";
	}
	another();
	part();
}
