// Moves what the kernel counts or keeps, or says where it is. A later run that hears
// another number than before was told something. Usage: channel tell WAY | channel hear WAY
// And says what the box is: channel is WHAT
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 77 };

static long child(void) {
	pid_t p = fork();
	if (p == 0) _exit(0);
	if (p > 0) waitpid(p, NULL, 0);
	return p;
}

static void *number(void *to) {
	*(long *)to = syscall(SYS_gettid);
	return NULL;
}

static long thread(void) {
	pthread_t t;
	long id = -1;
	if (pthread_create(&t, NULL, number, &id) == 0) pthread_join(t, NULL);
	return id;
}

static long inode(int f) {
	struct stat st;
	if (f < 0 || fstat(f, &st) != 0) return -1;
	close(f);
	return st.st_ino;
}

static long file(const char *folder) {
	char path[64];
	snprintf(path, sizeof path, "%s/x", folder);
	long n = inode(open(path, O_CREAT | O_RDWR, 0600));
	unlink(path);
	return n;
}

static long nameless(const char *folder) { return inode(open(folder, O_TMPFILE | O_RDWR, 0600)); }

static long nameless2(const char *folder) {
	struct { unsigned long long flags, mode, resolve; } how = {O_TMPFILE | O_RDWR, 0600, 0};
	return inode(syscall(437, AT_FDCWD, folder, &how, sizeof how)); // openat2
}

static void list(const char *folder) {
	DIR *d = opendir(folder);
	if (d == NULL) return;
	while (readdir(d) != NULL) {}
	closedir(d);
}

// times prints when a file was read and changed.
static void times(const char *path) {
	struct stat st;
	if (stat(path, &st) == 0)
		printf("%s %ld.%ld %ld.%ld\n", path, st.st_atim.tv_sec, st.st_atim.tv_nsec, st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

// send sends from a socket that leads nowhere, which the network namespace counts.
static void send_(int family) {
	int s = socket(family, SOCK_DGRAM, 0);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(0x0a000001)};
	struct sockaddr_in6 b = {.sin6_family = AF_INET6, .sin6_port = htons(9), .sin6_addr.s6_addr = {0x20, 1}};
	if (family == AF_INET) sendto(s, "x", 1, 0, (void *)&a, sizeof a);
	else sendto(s, "x", 1, 0, (void *)&b, sizeof b);
	if (s >= 0) close(s);
}

// show prints what a file says, but for what sockets of the whole machine have, which programs without
// sockets do not change.
static void show(const char *path) {
	static const char *const whole[] = {" orphan ", " alloc ", " mem "};
	char line[4096];
	FILE *f = fopen(path, "r");
	while (f != NULL && fgets(line, sizeof line, f)) {
		for (unsigned i = 0; i < sizeof whole / sizeof *whole; i++) {
			char *from = strstr(line, whole[i]);
			if (from != NULL) strcpy(from, "\n");
		}
		fputs(line, stdout);
	}
	if (f != NULL) fclose(f);
}

static const char *const counted[] = {"snmp", "snmp6", "netstat", "dev", "softnet_stat", "sockstat", "unix", "arp", "route", "dev_snmp6/lo"};

static void counters(void) {
	char path[64];
	for (unsigned i = 0; i < sizeof counted / sizeof *counted; i++) {
		if (!strcmp(counted[i], "softnet_stat")) continue; // of the whole machine
		snprintf(path, sizeof path, "/proc/self/net/%s", counted[i]);
		show(path);
		snprintf(path, sizeof path, "/proc/net/%s", counted[i]);
		show(path);
	}
}

static void lock(void) {
	struct flock l = {.l_type = F_RDLCK};
	int f = open("/box/ours", O_RDONLY);
	if (f >= 0 && fork() == 0) {
		setsid();
		fcntl(f, F_SETLK, &l);
		close(1), close(2);
		pause();
	}
}

static void asked(void) {
	struct flock l = {.l_type = F_WRLCK};
	int f = open("/box/ours", O_RDONLY);
	printf("%d %d\n", fcntl(f, F_GETLK, &l), l.l_type);
}

// is prints what the box is, or does what can be ended.
static int is(const char *what) {
	static const char *const folders[] = {"/tmp", "/dev/shm", "/box"}, *const hidden[] = {"meminfo", "sys", "loadavg", "net", "stat"};
	char path[64];
	struct statvfs s;
	struct stat st;
	if (!strcmp(what, "itself")) {
		printf("%d ", getuid());
		fflush(stdout);
		show("/box/ours");
		for (int i = 0; i < 3; i++)
			if (statvfs(folders[i], &s) == 0) printf(" %ld", (long)(s.f_blocks * s.f_frsize));
	} else if (!strcmp(what, "processes")) {
		struct dirent *e;
		DIR *d = opendir("/proc");
		while (d != NULL && (e = readdir(d)) != NULL)
			if (*e->d_name != '.') puts(e->d_name);
		for (int i = 0; i < 5; i++) {
			snprintf(path, sizeof path, "/proc/%s", hidden[i]);
			if (stat(path, &st) == 0) puts(path);
		}
	} else if (!strcmp(what, "mounted")) show("/proc/self/mountinfo");
	else if (!strcmp(what, "waiting")) {
		puts("here");
		fflush(stdout);
		getchar();
	} else if (!strcmp(what, "busy")) for (;;) {}
	else return 2;
	return 0;
}

int main(int argc, char **argv) {
	if (argc != 3) return 2;
	if (!strcmp(argv[1], "is")) return is(argv[2]);
	int tell = !strcmp(argv[1], "tell");
	const char *way = argv[2];
	for (int i = 0; i < (tell ? TIMES : 1); i++) {
		long n = 0;
		if (!strcmp(way, "process")) n = child();
		else if (!strcmp(way, "thread")) n = thread();
		else if (!strcmp(way, "file in /tmp")) n = file("/tmp");
		else if (!strcmp(way, "file in /dev/shm")) n = file("/dev/shm");
		else if (!strcmp(way, "nameless file")) nameless("/tmp"), nameless2("/tmp"), nameless("/dev/shm"), nameless2("/dev/shm");
		else if (!strcmp(way, "packet")) { if (tell) send_(AF_INET), send_(AF_INET6); else counters(); }
		else if (!strcmp(way, "time of change")) {
			if (tell) utimensat(AT_FDCWD, "/tmp", NULL, 0), utimensat(AT_FDCWD, "/dev/shm", NULL, 0);
			else times("/tmp"), times("/dev/shm");
		} else if (!strcmp(way, "time of reading")) {
			if (tell) list("/tmp"), list("/dev/shm"), list("/box"), close(open("/box/ours", O_RDONLY)), show("/box/ours");
			else times("/tmp"), times("/dev/shm"), times("/box"), times("/box/ours"), times("/box/channel"), times("/dev/null");
		} else if (!strcmp(way, "lock")) { if (tell) { lock(); break; } asked(); }
		else return 2;
		if (!tell && n != 0) printf("%ld of %d\n", n, getpid());
	}
	if (!tell && !strcmp(way, "nameless file")) printf("%ld %ld\n", file("/tmp"), file("/dev/shm"));
	return 0;
}
