// An icpc/1 validator: accepts outputs that begin with the answer's first byte,
// and does what the flags say: validator input answer feedback/ [flags]
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[200];

static FILE *make(const char *dir, const char *name) {
	snprintf(path, sizeof path, "%s%s", dir, name);
	return fopen(path, "w");
}

static void put(const char *dir, const char *name, const char *text) {
	FILE *f = make(dir, name);
	if (!f) exit(1);
	fputs(text, f);
	fclose(f);
}

int main(int argc, char **argv) {
	if (argc < 4) return 1;
	FILE *answer = fopen(argv[2], "r");
	int want = fgetc(answer), got = fgetc(stdin);
	long rest = 0;
	while (fgetc(stdin) != EOF) rest++;
	for (int i = 4; i < argc; i++) {
		if (!strcmp(argv[i], "score")) put(argv[3], "score.txt", "12.5\n");
		if (!strcmp(argv[i], "badscore")) put(argv[3], "score.txt", "many\n");
		if (!strcmp(argv[i], "next")) put(argv[3], "nextpass.in", "again\n");
		if (!strcmp(argv[i], "quiet")) fprintf(stderr, "on stderr\n");
		if (!strcmp(argv[i], "zero")) return 0;
		if (!strcmp(argv[i], "refuse")) {
			fprintf(stderr, "the flag refuse is not for me\n");
			put(argv[3], "judgemessage.txt", "nothing was compared\n");
			return 1;
		}
		if (!strcmp(argv[i], "trap")) {
			fprintf(stderr, "about to trap\n");
			__builtin_trap();
		}
		if (!strcmp(argv[i], "flood")) {
			FILE *f = make(argv[3], "judgemessage.txt");
			for (;;) fputs("flood\n", f);
		}
		if (!strcmp(argv[i], "hole")) {
			FILE *f = make(argv[3], "judgemessage.txt");
			pwrite(fileno(f), "x", 1, 1LL << 30);
			pwrite(fileno(f), "x", 1, 1LL << 62);
		}
		if (!strcmp(argv[i], "files")) {
			int n = 0;
			for (; n < 1000; n++) {
				char name[20];
				snprintf(name, sizeof name, "f%d", n);
				FILE *f = make(argv[3], name);
				if (!f) break;
				fclose(f);
			}
			fprintf(stderr, "%d files\n", n);
			return 43;
		}
	}
	if (argc == 4 || strcmp(argv[4], "quiet")) {
		char text[100];
		snprintf(text, sizeof text, "wanted %c, got %c and %ld more\n", want, got, rest);
		put(argv[3], "judgemessage.txt", text);
		put(argv[3], "teammessage.txt", want == got ? "well done\n" : "look again\n\n");
	}
	return want == got ? 42 : 43;
}
