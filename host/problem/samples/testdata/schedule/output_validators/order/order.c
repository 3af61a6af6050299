/*
 * Checks an order of jobs: every job once, every rule kept, or "impossible"
 * where the answer says so. The answer's own order is checked by the same
 * rules, so a wrong answer file is a failure of the judges and not a verdict.
 *
 * Usage: order input answer feedback_folder/ < output
 * Exit status: 42 accepted, 43 wrong, 1 the judges' files are wrong.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACCEPTED = 42, WRONG = 43, FAILED = 1 };

static const char *feedback;

/* say writes one line into a file of the feedback folder. */
static void say(const char *file, const char *format, va_list args)
{
	char path[256];
	snprintf(path, sizeof path, "%s%s", feedback, file);
	FILE *f = fopen(path, "w");
	if (!f)
		return;
	vfprintf(f, format, args);
	fputc('\n', f);
	fclose(f);
}

static _Noreturn void fail(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say("judgeerror.txt", format, args);
	va_end(args);
	exit(FAILED);
}

static int job_count, rule_count;
static int *before, *after; /* the rules */

static void read_input(const char *path)
{
	FILE *f = fopen(path, "r");
	if (!f || fscanf(f, "%d %d", &job_count, &rule_count) != 2)
		fail("the input cannot be read");
	before = calloc((size_t)rule_count + 1, sizeof *before);
	after = calloc((size_t)rule_count + 1, sizeof *after);
	if (!before || !after)
		fail("no memory for %d rules", rule_count);
	for (int i = 0; i < rule_count; i++)
		if (fscanf(f, "%d %d", &before[i], &after[i]) != 2)
			fail("rule %d of the input cannot be read", i + 1);
	fclose(f);
}

/* A word is at most this long; longer ones are wrong anyway. */
enum { WORD = 32 };

/* next_word reads a word. It returns its length, or 0 at the end. */
static int next_word(FILE *f, char word[WORD])
{
	int c, n = 0;
	while ((c = getc(f)) != EOF && isspace(c))
		;
	for (; c != EOF && !isspace(c); c = getc(f)) {
		if (n < WORD - 1)
			word[n] = (char)c;
		n++;
	}
	word[n < WORD - 1 ? n : WORD - 1] = 0;
	return n;
}

/* job returns the job that a word names, or 0. */
static int job(const char *word)
{
	int n = 0;
	for (const char *c = word; *c; c++) {
		if (!isdigit((unsigned char)*c) || c - word >= 7)
			return 0;
		n = 10 * n + (*c - '0');
	}
	return n >= 1 && n <= job_count ? n : 0;
}

static char reason[160]; /* why an order is wrong */

enum claim { ORDER, IMPOSSIBLE, NONSENSE };

/* read_claim reads what a file claims and checks an order. */
static enum claim read_claim(FILE *f)
{
	int *place = calloc((size_t)job_count + 1, sizeof *place);
	char word[WORD];
	if (!place)
		fail("no memory for %d jobs", job_count);
	for (int i = 1; i <= job_count; i++) {
		if (!next_word(f, word)) {
			snprintf(reason, sizeof reason, "ends after %d of %d jobs", i - 1, job_count);
			return NONSENSE;
		}
		if (i == 1 && strcmp(word, "impossible") == 0) {
			snprintf(reason, sizeof reason, "goes on after the word impossible");
			return next_word(f, word) ? NONSENSE : IMPOSSIBLE;
		}
		int j = job(word);
		if (!j) {
			snprintf(reason, sizeof reason, "word %d is no job", i);
			return NONSENSE;
		}
		if (place[j]) {
			snprintf(reason, sizeof reason, "job %d occurs twice, in places %d and %d", j, place[j], i);
			return NONSENSE;
		}
		place[j] = i;
	}
	if (next_word(f, word)) {
		snprintf(reason, sizeof reason, "goes on after all %d jobs", job_count);
		return NONSENSE;
	}
	for (int i = 0; i < rule_count; i++)
		if (place[before[i]] > place[after[i]]) {
			snprintf(reason, sizeof reason, "job %d must be done before job %d", before[i], after[i]);
			return NONSENSE;
		}
	free(place);
	return ORDER;
}

static _Noreturn void wrong(const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	say("judgemessage.txt", format, args);
	say("teammessage.txt", format, again);
	va_end(again);
	va_end(args);
	exit(WRONG);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return FAILED;
	feedback = argv[3];
	read_input(argv[1]);
	FILE *f = fopen(argv[2], "r");
	if (!f)
		fail("the answer cannot be read");
	enum claim truth = read_claim(f);
	if (truth == NONSENSE)
		fail("the answer is wrong: %s", reason);
	enum claim claim = read_claim(stdin);
	if (claim == NONSENSE)
		wrong("%s", reason);
	if (claim == ORDER && truth == IMPOSSIBLE)
		fail("the answer says impossible, but the program found an order");
	if (claim == IMPOSSIBLE && truth == ORDER)
		wrong("there is an order");
	return ACCEPTED;
}
