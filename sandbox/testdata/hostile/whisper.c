// Tells something to another box through a file that both see, or listens. Usage:
// whisper say WAY | whisper hear WAY | whisper watch WAY
//
// Who says, or watches, prints "ready", goes on until its input ends, and with watch
// prints what it noticed. Who hears prints what it finds and ends.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define HINT_SET 1036
#define HINT_GET 1035

static const char *target = "/usr/bin/env", *folder = "/usr/bin", *device = "/dev/null";

static const char *error(void) { return strerrorname_np(errno); }

static struct flock lock(short type) { return (struct flock){.l_type = type, .l_whence = SEEK_SET}; }

static void say(const char *way) {
	int f = open(target, O_RDONLY);
	struct flock l = lock(F_RDLCK);
	unsigned long hint = 0;
	if (!strcmp(way, "flock")) flock(f, LOCK_SH);
	if (!strcmp(way, "record lock")) fcntl(f, F_SETLK, &l);
	if (!strcmp(way, "lock of an open file")) fcntl(f, F_OFD_SETLK, &l);
	if (!strcmp(way, "hint") && fcntl(f, HINT_GET, &hint) == 0) hint = (hint + 1) % 6, fcntl(f, HINT_SET, &hint);
	if (!strcmp(way, "time")) utimensat(AT_FDCWD, device, NULL, 0);
	if (!strcmp(way, "opening") || !strcmp(way, "reading")) {
		char b[16];
		for (int i = 0; i < 100; i++) {
			int g = open(target, O_RDONLY);
			if (read(g, b, sizeof b) < 0) return;
			close(g);
		}
	}
}

static void hear(const char *way) {
	int f = open(target, O_RDONLY);
	struct flock l = lock(F_WRLCK);
	struct stat st = {0};
	unsigned long hint = 0;
	if (!strcmp(way, "flock")) printf("%s\n", flock(f, LOCK_EX | LOCK_NB) == 0 ? "free" : error());
	if (!strcmp(way, "record lock")) printf("%s\n", fcntl(f, F_GETLK, &l) != 0 ? error() : l.l_type == F_UNLCK ? "free" : "taken");
	if (!strcmp(way, "lock of an open file")) printf("%s\n", fcntl(f, F_OFD_GETLK, &l) != 0 ? error() : l.l_type == F_UNLCK ? "free" : "taken");
	if (!strcmp(way, "hint")) fcntl(f, HINT_GET, &hint) != 0 ? printf("%s\n", error()) : printf("%lu\n", hint);
	if (!strcmp(way, "time")) stat(device, &st) != 0 ? printf("%s\n", error()) : printf("%ld.%ld\n", st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

static volatile sig_atomic_t noticed;
static void notice(int s) { (void)s, noticed = 1; }

static void watch(const char *way, int inotify) {
	char b[4096];
	if (!strcmp(way, "opening")) printf("%s\n", read(inotify, b, sizeof b) > 0 ? "noticed" : "nothing");
	if (!strcmp(way, "reading")) printf("%s\n", noticed ? "noticed" : "nothing");
}

int main(int argc, char **argv) {
	char b[16];
	int inotify = -1;
	if (argc < 3) return 2;
	setvbuf(stdout, NULL, _IONBF, 0);
	if (!strcmp(argv[1], "hear")) return hear(argv[2]), 0;
	if (!strcmp(argv[1], "say")) say(argv[2]);
	if (!strcmp(argv[1], "watch")) {
		signal(SIGIO, notice);
		inotify = inotify_init1(IN_NONBLOCK);
		if (!strcmp(argv[2], "opening")) inotify_add_watch(inotify, folder, IN_OPEN);
		if (!strcmp(argv[2], "reading")) fcntl(open(folder, O_RDONLY), F_NOTIFY, DN_ACCESS | DN_MULTISHOT);
	}
	printf("ready\n");
	while (read(0, b, sizeof b) > 0 || errno == EINTR) errno = 0;
	if (!strcmp(argv[1], "watch")) watch(argv[2], inotify);
	return 0;
}
