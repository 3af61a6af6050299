package judging_test

import (
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
)

// secretive has two passes. The first tells a program to keep the number 77, and the
// second asks for it without telling anything.
const secretive = `#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	char path[64], word[16] = "";
	snprintf(path, sizeof path, "%sasked", argv[3]);
	FILE *asked = fopen(path, "r");
	if (asked)
		return scanf("%15s", word) == 1 && !strcmp(word, "77") ? 42 : 43;
	fclose(fopen(path, "w"));
	snprintf(path, sizeof path, "%snextpass.in", argv[3]);
	FILE *next = fopen(path, "w");
	fputs("get\n", next);
	fclose(next);
	return 42;
}`

// tellerHead begins every program; keeping says whether it is told to keep the number.
const tellerHead = `#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int keeping(void)
{
	char word[16] = "";
	return scanf("%15s", word) == 1 && !strcmp(word, "keep");
}
`

// tellers tell their next pass the number, in a room that both have, and the first
// test has no earlier runs.
var tellers = map[string]string{
	"by the counter of processes": `
int main(void)
{
	if (keeping()) {
		for (int i = 0; i < 77; i++) {
			pid_t p = fork();
			if (p == 0)
				_exit(0);
			waitpid(p, NULL, 0);
		}
		puts("kept");
	} else
		printf("%d\n", getpid() - 3);
}`,
	"by the counters of the network": `
static long noRoute(void)
{
	static char line[4096];
	FILE *f = fopen("/proc/self/net/snmp", "r");
	long n = -1;
	if (!f || !fgets(line, sizeof line, f) || !fgets(line, sizeof line, f))
		return n;
	char *word = strtok(line, " ");
	for (int i = 1; word && i <= 12; i++) // OutNoRoutes
		word = strtok(NULL, " ");
	return word ? atol(word) : -1;
}

int main(void)
{
	if (keeping()) {
		int s = socket(AF_INET, SOCK_DGRAM, 0);
		struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(0x0a000001)};
		for (int i = 0; i < 77; i++)
			sendto(s, "x", 1, 0, (void *)&a, sizeof a);
		puts("kept");
	} else
		printf("%ld\n", noRoute());
}`,
	"by the numbers of inodes": `
static long inode(void)
{
	struct stat st;
	int f = open("/tmp/x", O_CREAT | O_RDWR, 0600);
	fstat(f, &st);
	close(f);
	unlink("/tmp/x");
	return st.st_ino;
}

int main(void)
{
	if (keeping()) {
		for (int i = 0; i < 77; i++)
			inode();
		puts("kept");
	} else
		printf("%ld\n", inode() - 2);
}`,
	"by the time of a file": `
int main(void)
{
	struct stat st;
	if (keeping()) {
		struct timespec now;
		do
			usleep(300), clock_gettime(CLOCK_REALTIME, &now);
		while (now.tv_nsec / 1000000 != 775); // well within what is told
		close(open("/tmp/x", O_CREAT | O_RDWR, 0600));
		unlink("/tmp/x");
		puts("kept");
	} else {
		stat("/tmp", &st);
		printf("%ld\n", st.st_mtim.tv_nsec / 10000000);
	}
}`,
}

func TestAPassIsNotToldWhatAnEarlierOneWas(t *testing.T) {
	t.Parallel()
	pkg := echo(t, map[string]string{
		"problem.yaml":          "name: Keep\nvalidation: custom multi-pass\nlimits: {validation_passes: 2, memory: 256, code: 8}\n",
		"output_validators/k.c": secretive,
		"data/sample/1.in":      "keep\n", "data/sample/1.ans": "77\n", "data/secret/1.in": "keep \n", "data/secret/1.ans": "77\n",
	})
	judgedC := func(t *testing.T, text string) judge.Result {
		t.Helper()
		p := judge.Payload{Problem: "echo", Language: "c", Sources: []judge.Source{{Name: "a.c", Text: tellerHead + text}}}
		return judged(t, judgingtest.Get(t).Judge, p, pkg)
	}
	for name, text := range tellers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r := judgedC(t, text); r.Verdict != judge.WA || strings.Contains(verdicts(r), "AC") {
				t.Errorf("%s %s: want WA in every test: %s", r.Verdict, verdicts(r), r.JudgeNote)
			}
		})
	}
	if r := judgedC(t, "int main(void) { puts(\"77\"); }\n"); r.Verdict != judge.AC {
		t.Errorf("the program that knows the number gets %s: %s", r.Verdict, r.JudgeNote)
	}
}

// differing accepts a program that says another word in the second pass than in the
// first.
const differing = `#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	char path[64], word[16] = "", before[16] = "";
	snprintf(path, sizeof path, "%sword", argv[3]);
	FILE *notes = fopen(path, "r");
	if (scanf("%15s", word) != 1)
		return 43;
	if (notes)
		return fscanf(notes, "%15s", before) == 1 && strcmp(word, before) ? 42 : 43;
	notes = fopen(path, "w");
	fputs(word, notes);
	fclose(notes);
	snprintf(path, sizeof path, "%snextpass.in", argv[3]);
	fclose(fopen(path, "w"));
	return 42;
}`

func TestEachPassHasARoomOfItsOwn(t *testing.T) {
	t.Parallel()
	pkg := echo(t, map[string]string{
		"problem.yaml": "name: Differ\nvalidation: custom multi-pass\n", "output_validators/d.c": differing,
	})
	for program, want := range map[string]judge.Verdict{
		"import os\nprint(os.getuid())\n": judge.AC, // each room has a user id of its own
		"print(7)\n":                      judge.WA,
	} {
		if r := judged(t, judgingtest.Get(t).Judge, python(program), pkg); r.Verdict != want {
			t.Errorf("%q: %s, want %s: %s", program, r.Verdict, want, r.JudgeNote)
		}
	}
}
