package judging_test

import (
	"fmt"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
)

// flooding is a C program that says a text without end, after a first one.
func flooding(first, text string) judge.Payload {
	return judge.Payload{Problem: "echo", Language: "c", Sources: []judge.Source{{Name: "a.c", Text: fmt.Sprintf(`#include <string.h>
#include <unistd.h>
int main(void)
{
	static char all[1 << 16];
	const char *text = %q;
	unsigned n = strlen(text);
	for (unsigned i = 0; i < sizeof all; i++)
		all[i] = text[i %% n];
	if (write(1, %q, strlen(%[2]q)) < 0)
		return 0;
	while (write(1, all, sizeof all / n * n) > 0) {}
	return 0;
}
`, text, first)}}}
}

// Interactors that bear a flood badly, each in its way.
const (
	hoarding = `#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	size_t n = 0, room = 16;
	char *word = malloc(room);
	for (int c; (c = getchar()) != EOF && c > ' ';) {
		if (n + 1 >= room && !(word = realloc(word, room *= 2)))
			abort();
		word[n++] = c;
	}
	return 43;
}
`
	pondering = `#include <stdio.h>
#include <string.h>
static char word[64 << 20];
int main(void)
{
	for (int c; (c = getchar()) != EOF && c > ' ';)
		word[strlen(word)] = c;
	return 43;
}
`
	noting = `#include <stdio.h>
int main(int argc, char **argv)
{
	char line[100], path[100];
	snprintf(path, sizeof path, "%sjudgemessage.txt", argv[3]);
	FILE *note = fopen(path, "w");
	for (long n = 0; fgets(line, sizeof line, stdin); n++) {
		fprintf(note, "query %ld was %s", n, line);
		fprintf(stderr, "%ld\n", n);
		printf("%ld: try again, this was wrong\n", n);
		fflush(stdout);
	}
	return 43;
}
`
	native = `import sys
word = b""
while True:
    c = sys.stdin.buffer.read(1)
    if not c or c.isspace():
        break
    word += c
sys.exit(43)
`
)

func TestAProgramThatSpeaksWithoutEndIsJudgedAndNotItsInteractor(t *testing.T) {
	t.Parallel()
	m := judgingtest.Get(t)
	own := func(name, source, limits string) *problem.Package {
		return echo(t, map[string]string{
			"problem.yaml": "name: Flood\nvalidation: custom interactive\nlimits: {" + limits + "}\n", "output_validators/" + name: source, ".timelimit": "1\n",
		})
	}
	for name, pkg := range map[string]*problem.Package{
		"one that guesses, in testlib/1":  guessing(t, "testlib/1", ""),
		"one that guesses, in icpc/1":     guessing(t, "icpc/1", ""),
		"one that keeps all in memory":    own("i.c", hoarding, "output: 64, validation_memory: 16, validation_time: 2"),
		"one that takes ever longer":      own("i.c", pondering, "output: 64, validation_memory: 256, validation_time: 1"),
		"one that writes down everything": own("i.c", noting, "output: 2"),
		"one that is a program":           own("i.py", native, "output: 4, validation_time: 1"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for shape, p := range map[string]judge.Payload{
				"an endless word": flooding("", "9"), "an endless number after a right one": flooding("5\n", "12345"), "endless lines": flooding("", "500\n"),
				"endless blanks": flooding("", " \n"), "endless noise": flooding("", "\x01\xff\u00e9 \x7f"),
			} {
				r, err := m.Judge.Judge(t.Context(), p, pkg.Version, nil)
				if err != nil || r.Verdict != judge.OLE && r.Verdict != judge.WA && r.Verdict != judge.TLE {
					t.Errorf("%s: it is %s %q: %s: %v", shape, r.Verdict, r.Message, r.JudgeNote, err)
				}
			}
		})
	}
}
