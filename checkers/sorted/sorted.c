// sorted accepts an output that has the lines of the answer in any order. Blank lines
// do not count, nor does how much white space stands between the words of a line.
//
// Flag: --words, which takes words for lines.
//
// No text is kept: of each line 128 bits are taken, and added up. That two texts with
// different lines have the same sum is less likely than that the machine errs.
#include "testlib1.h"

#include "digest.h"
#include "flags.h"
#include "manifest.h"
#include "rest.h"

static struct stream output, answer;

// tally is what is known of a text.
struct tally {
	uint64_t lines, sums[2];
};

static void add(struct tally *t, struct digest *d)
{
	uint64_t parts[2];
	digest_end(d, parts);
	t->lines++;
	t->sums[0] += parts[0];
	t->sums[1] += parts[1];
}

static struct tally read_all(struct stream *s, int words)
{
	struct tally t = {0};
	struct digest d;
	int begun = 0; // a line has a word
	for (;;) {
		int ended = skip_blank(s), c = stream_peek(s);
		if (begun && (ended || words || c == END)) {
			add(&t, &d);
			begun = 0;
		}
		if (c == END)
			return t;
		if (begun)
			digest_byte(&d, ' ');
		else
			digest_begin(&d);
		begun = 1;
		while (!ends_token(stream_peek(s)))
			digest_byte(&d, *s->at++);
	}
}

int main(int argc, char **argv)
{
	if (argc < FLAGS)
		finish(FAILED, "", "usage: sorted input output answer [--words]");
	int words = 0;
	for (int i = FLAGS; i < argc; i++)
		if (!flag_switch(argv[i], "--words", &words))
			flag_refused(argv[i]);
	stream_open(&output, argv[OUTPUT]);
	stream_open(&answer, argv[ANSWER]);

	struct tally got = read_all(&output, words), want = read_all(&answer, words);
	if (got.lines == want.lines && got.sums[0] == want.sums[0] && got.sums[1] == want.sums[1])
		return ACCEPTED;
	struct text team = {0};
	text_string(&team, "the output has ");
	text_number(&team, got.lines);
	text_string(&team, words ? " words, " : " lines that are not blank, ");
	text_string(&team, got.lines < want.lines ? "too few" : got.lines > want.lines ? "too many" : "and not those that it should have");
	finish(WRONG, team.bytes, "");
}
