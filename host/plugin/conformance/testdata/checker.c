// A checker that compares tokens, in testlib/1 or with -DICPC in icpc/1; with
// -DINTERACTOR it hears a program in testlib/1. Each
// macro BAD_… makes it break one rule of the contract.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *output, *answer;
static const char *feedback;

static void say(const char *file, const char *what, const char *word)
{
	if (!feedback) {
		fprintf(stderr, "%s%s\n", what, word);
		return;
	}
	char path[200];
	snprintf(path, sizeof path, "%s%s", feedback, file);
	FILE *f = fopen(path, "w");
	if (!f)
		exit(1);
	fprintf(f, "%s%s\n", what, word);
	fclose(f);
}

static _Noreturn void end(int accepted, const char *what, const char *word)
{
	say("teammessage.txt", what, word);
	if (feedback)
		exit(accepted ? 42 : 43);
	exit(accepted ? 0 : 1);
}

static int space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static volatile unsigned spun;
static int line_ended;

// same compares two tokens, one byte at a time, and returns how they end: 0 when
// they differ, 1 when they agree, 2 when both files have ended.
static int same(char *expected, size_t size)
{
	int a, b;
	size_t n = 0;
	do
		a = getc(output);
	while (space(a));
	do
		b = getc(answer);
	while (space(b));
	if (a == EOF && b == EOF)
		return 2;
	for (; b != EOF && !space(b); b = getc(answer)) {
		if (n + 1 < size)
			expected[n++] = (char)b;
		expected[n] = 0;
#ifdef BAD_TRAP
		if (a == 0)
			__builtin_trap();
#endif
#ifdef BAD_SLOW
		for (unsigned i = 0; i < 50; i++)
			spun += i;
#endif
#ifdef BAD_MUTANT
		a = tolower(a), b = tolower(b);
#endif
		if (a != b) {
			while ((b = getc(answer)) != EOF && !space(b))
				if (n + 1 < size)
					expected[n++] = (char)b, expected[n] = 0;
			return 0;
		}
		a = getc(output);
	}
	line_ended = a == EOF || a == '\n';
	return a == EOF || space(a);
}

#ifdef BAD_MEMORY
// hoard reads the whole output, as many programs do.
static void hoard(void)
{
	size_t room = 1 << 16, n = 0;
	char *all = malloc(room);
	for (size_t k; (k = fread(all + n, 1, room - n, output)) > 0; n += k)
		if (n + k == room) {
			all = realloc(all, room *= 2);
			if (!all)
				abort();
		}
	rewind(output);
}
#endif

#ifdef BAD_FUEL
// quadratic looks at every beginning of a long number.
static void quadratic(void)
{
	unsigned n = 0;
	for (int c; (c = getc(output)) != EOF;) {
		n = c == '7' ? n + 1 : 0;
		for (unsigned i = 0; i < n; i++)
			spun += i;
	}
	rewind(output);
}
#endif

int main(int argc, char **argv)
{
#ifdef BAD_DESCRIBE
	if (argc == 2 && !strcmp(argv[1], "--describe")) {
		puts("{\"judge\":1,\"kind\":\"checker\",\"name\":\"test\",\"version\":\"2\",\"protocol\":\"testlib/1\"}");
		return 0;
	}
#endif
	if (argc < 4)
		return 3;
#ifdef ICPC
	feedback = argv[3];
	answer = fopen(argv[2], "r");
	output = stdin;
#elif defined INTERACTOR
	output = stdin;
	answer = fopen(argv[3], "r");
#else
	output = fopen(argv[2], "r");
	answer = fopen(argv[3], "r");
#endif
	if (!output || !answer)
		return 3;
#ifdef BAD_MEMORY
	hoard();
#endif
#ifdef BAD_FUEL
	quadratic();
#endif
#ifdef BAD_EXIT
	int c = getc(output);
	if (c == EOF)
		return 77;
	ungetc(c, output);
#endif
#ifdef BAD_BLAME
	int d = getc(output);
	if (d == 0xef || d == 0)
		return 3;
	ungetc(d, output);
#endif
#ifdef BAD_EQUAL
	int e = getc(output);
	if (e == 'n')
		end(0, "nan is no number", "");
	ungetc(e, output);
#endif
#ifdef BAD_ORACLE
	int g = getc(output);
	if (g == '-')
		end(0, "negative", "");
	ungetc(g, output);
#endif
	char expected[100] = "";
	for (int n = 1;; n++) {
		int s = same(expected, sizeof expected);
		if (s == 2)
			end(1, "all tokens agree", "");
		if (s == 0) {
#ifdef BAD_LEAK
			end(0, "expected ", expected);
#endif
			char number[20];
			snprintf(number, sizeof number, "%d", n);
			end(0, "a mistake in token ", number);
		}
#ifdef BAD_FIRST_LINE
		if (line_ended)
			end(1, "the first line agrees", "");
#endif
	}
}
