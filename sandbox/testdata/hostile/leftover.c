// Leaves something for the next run, of one kind, or looks for what one left and
// prints what it finds. Usage: leftover leave KIND | leftover look
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// stay leaves a process that nothing but SIGKILL ends.
static void stay(void) {
	if (fork() != 0) return;
	setsid();
	for (int s = 1; s < 65; s++) signal(s, SIG_IGN);
	for (;;) pause();
}

static int make(const char *path) { return open(path, O_CREAT | O_RDWR, 0600); }

static int abstract(int s, int (*f)(int, const struct sockaddr *, socklen_t)) {
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	memcpy(a.sun_path + 1, "left", 4);
	return f(s, (struct sockaddr *)&a, sizeof(sa_family_t) + 5);
}

// fill writes n MiB to a file.
static int fill(int fd, int n) {
	static char block[1 << 20];
	memset(block, 'x', sizeof block);
	while (n-- > 0)
		if (write(fd, block, sizeof block) != (ssize_t)sizeof block) return -1;
	return 0;
}

// leave returns whether it could leave what it should.
static int leave(const char *kind) {
	if (!strcmp(kind, "file")) return make("/tmp/file") >= 0;
	if (!strcmp(kind, "shared-file")) return make("/dev/shm/file") >= 0;
	if (!strcmp(kind, "memory")) return fill(make("/tmp/big"), 24) == 0 && fill(make("/dev/shm/big"), 24) == 0;
	if (!strcmp(kind, "folders")) {
		if (chdir("/tmp") != 0) return 0;
		for (int i = 0; i < 2000; i++)
			if (mkdir("deeper", 0700) != 0 || chdir("deeper") != 0) return 0;
		return chmod(".", 0) == 0;
	}
	if (!strcmp(kind, "pipe")) return mkfifo("/tmp/pipe", 0600) == 0;
	if (!strcmp(kind, "socket")) {
		struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "/tmp/socket"};
		int s = socket(AF_UNIX, SOCK_STREAM, 0);
		if (bind(s, (struct sockaddr *)&a, sizeof a) != 0 || listen(s, 1) != 0) return 0;
		stay();
		return 1;
	}
	if (!strcmp(kind, "abstract-socket")) {
		int s = socket(AF_UNIX, SOCK_STREAM, 0);
		if (abstract(s, bind) != 0 || listen(s, 1) != 0) return 0;
		stay();
		return 1;
	}
	if (!strcmp(kind, "deleted-file")) {
		int fd = make("/tmp/deleted");
		if (fill(fd, 24) != 0 || unlink("/tmp/deleted") != 0) return 0;
		stay();
		return 1;
	}
	if (!strcmp(kind, "processes")) {
		for (int i = 0; i < 16; i++) stay();
		return 1;
	}
	if (!strcmp(kind, "stopped-process")) {
		pid_t p = fork();
		if (p == 0)
			for (;;) raise(SIGSTOP);
		return p > 0;
	}
	if (!strcmp(kind, "zombies")) { // of a parent that never waits
		if (fork() != 0) return 1;
		setsid();
		for (int i = 0; i < 8; i++)
			if (fork() == 0) _exit(0);
		for (;;) pause();
	}
	if (!strcmp(kind, "descriptors")) {
		for (int i = 0; i < 200; i++)
			if (open("/dev/null", O_RDWR) < 0) return 0;
		stay();
		return 1;
	}
	if (!strcmp(kind, "mapped-file")) {
		int fd = make("/tmp/mapped");
		if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED) return 0;
		stay();
		return 1;
	}
	if (!strcmp(kind, "box-file")) return make("/box/left") >= 0;
	if (!strcmp(kind, "settings")) { // of this process and its group, which end with it
		umask(0777);
		return setpriority(PRIO_USER, 0, 19) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
	}
	exit(2);
}

static void list(const char *path) {
	DIR *d = opendir(path);
	if (d == NULL) {
		printf("%s cannot be read\n", path);
		return;
	}
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) printf("%s/%s\n", path, e->d_name);
	closedir(d);
}

static void look(void) {
	list("/tmp");
	list("/dev/shm");
	// Processes: the first one and this one.
	DIR *d = opendir("/proc");
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		if (e->d_name[0] >= '0' && e->d_name[0] <= '9' && atoi(e->d_name) != 1 && atoi(e->d_name) != getpid()) printf("process %s\n", e->d_name);
	closedir(d);
	for (int fd = 3; fd < 4096; fd++)
		if (fcntl(fd, F_GETFD) >= 0) printf("descriptor %d\n", fd);
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	if (abstract(s, connect) == 0) printf("abstract socket\n");
	close(s);
	const char *ipc[] = {"/proc/sysvipc/shm", "/proc/sysvipc/sem", "/proc/sysvipc/msg", NULL};
	for (int i = 0; ipc[i] != NULL; i++) {
		FILE *f = fopen(ipc[i], "r");
		char line[1024];
		for (int n = 0; f != NULL && fgets(line, sizeof line, f) != NULL; n++)
			if (n > 0) printf("%s: %s", ipc[i], line);
		if (f != NULL) fclose(f);
	}
	if (access("/box/left", F_OK) == 0) printf("/box/left\n");
	struct stat st;
	const char *folders[] = {"/tmp", "/dev/shm", NULL};
	for (int i = 0; folders[i] != NULL; i++)
		if (stat(folders[i], &st) != 0 || st.st_mode != (S_IFDIR | 01777) || st.st_uid != 0) printf("%s has mode %o and owner %u\n", folders[i], st.st_mode, st.st_uid);
	if (umask(022) != 022) printf("file mode mask\n");
	if (getpriority(PRIO_PROCESS, 0) != 0) printf("priority %d\n", getpriority(PRIO_PROCESS, 0));
	extern char **environ;
	for (char **e = environ; *e != NULL; e++)
		if (strncmp(*e, "PATH=", 5) && strncmp(*e, "HOME=", 5) && strncmp(*e, "LANG=", 5)) printf("environment %s\n", *e);
}

int main(int argc, char **argv) {
	if (argc == 3 && !strcmp(argv[1], "leave")) return leave(argv[2]) ? 0 : 1;
	if (argc != 2 || strcmp(argv[1], "look") != 0) return 2;
	look();
	return 0;
}
