// A testlib/1 checker that does what its arguments say, to see what a guest can
// do: checker input output answer OPERATION [ARGUMENT]
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int calls;

static long count(const char *path) {
	int fd = open(path, O_RDONLY);
	if (fd < 0) return -1;
	static char buf[3000];
	long all = 0;
	for (ssize_t n; (n = read(fd, buf, sizeof buf)) > 0; all += n) {}
	close(fd);
	return all;
}

static void attempt(const char *what, int result) {
	fprintf(stderr, "%s: %s\n", what, result < 0 ? "no" : "yes");
}

static int fill(void) {
	size_t n = 4 << 20, dirty = 0;
	unsigned char *p = malloc(n);
	for (size_t i = 65536; i < n; i++) dirty += p[i] != 0; // the allocator may have written before
	memset(p, 0xaa, n);
	fprintf(stderr, "call %d, %zu bytes of somebody else, file %s\n", ++calls, dirty,
	        open("feedback/judgemessage.txt", O_RDONLY) < 0 ? "gone" : "there");
	return 0;
}

static int world(void) {
	struct timespec t[3];
	for (int i = 0; i < 3; i++) clock_gettime(CLOCK_REALTIME, &t[i]);
	unsigned char r[8];
	getentropy(r, sizeof r);
	fprintf(stderr, "clock %lld.%09ld %lld.%09ld\n", (long long)t[0].tv_sec, t[0].tv_nsec, (long long)t[2].tv_sec, t[2].tv_nsec);
	fprintf(stderr, "random");
	for (int i = 0; i < 8; i++) fprintf(stderr, " %02x", r[i]);
	fprintf(stderr, "\nPATH %s\n", getenv("PATH") ? getenv("PATH") : "unset");
	usleep(2000000000u);
	DIR *d = opendir("/");
	for (struct dirent *e; d && (e = readdir(d));) fprintf(stderr, "entry %s\n", e->d_name);
	attempt("read a file of the host", open("/etc/passwd", O_RDONLY));
	attempt("leave the world", open("../../../../etc/passwd", O_RDONLY));
	attempt("read the processes", open("/proc/self/maps", O_RDONLY));
	attempt("write the input", open("input", O_WRONLY));
	attempt("truncate the answer", open("answer", O_WRONLY | O_TRUNC));
	attempt("make a file", open("new", O_WRONLY | O_CREAT, 0644));
	attempt("make a folder", mkdir("folder", 0755));
	attempt("remove the answer", unlink("answer"));
	attempt("rename the answer", rename("answer", "input"));
	attempt("link", symlink("/etc/passwd", "link"));
	return 0;
}

static int descriptors(void) {
	int n = 0;
	while (open("input", O_RDONLY) >= 0) n++;
	fprintf(stderr, "%d open\n", n);
	return 0;
}

static int seeking(void) {
	FILE *f = fopen("output", "r");
	fseek(f, -5, SEEK_END);
	int a = fgetc(f);
	fseek(f, 100000, SEEK_SET);
	int b = fgetc(f);
	rewind(f);
	int c = fgetc(f);
	struct stat s;
	stat("output", &s);
	fprintf(stderr, "%c%c%c %lld %ld %ld %ld\n", a, b, c, (long long)s.st_size, count("input"), count("output"), count("answer"));
	return 0;
}

static int deep(int n) {
	volatile char here[64];
	here[0] = (char)n;
	return n == 0 ? here[0] : deep(n - 1) + here[0];
}

static void hoard(void) {
	for (size_t n = 0;; n++) {
		char *p = malloc(1 << 20);
		if (!p) abort();
		for (size_t i = 0; i < 1 << 20; i += 4096) ((volatile char *)p)[i] = 1;
	}
}

static void flood(FILE *to) {
	for (;;) fputs("All work and no play makes Jack a dull boy.\n", to);
}

static void reread(void) {
	for (;;) count("output");
}

int main(int argc, char **argv) {
	if (argc < 5) return 3;
	const char *op = argv[4], *arg = argc > 5 ? argv[5] : "";
	if (!strcmp(op, "say")) return fputs(arg, stderr), argc > 6 ? atoi(argv[6]) : 0;
	if (!strcmp(op, "fill")) return fill();
	if (!strcmp(op, "world")) return world();
	if (!strcmp(op, "descriptors")) return descriptors();
	if (!strcmp(op, "seeking")) return seeking();
	if (!strcmp(op, "deep")) return deep(atoi(arg)) & 0;
	if (!strcmp(op, "hoard")) hoard();
	if (!strcmp(op, "stdout")) flood(stdout);
	if (!strcmp(op, "stderr")) flood(stderr);
	if (!strcmp(op, "reread")) reread();
	if (!strcmp(op, "loop")) for (volatile int i = 0;; i++) {}
	if (!strcmp(op, "spin")) {
		for (volatile int i = 0, n = atoi(arg); i < n; i++) {}
		fprintf(stderr, "done\n");
		return 0;
	}
	if (!strcmp(op, "trap")) __builtin_trap();
	return 3;
}
