// lines accepts an output whose lines are those of the answer. White space at
// the end of a line and empty lines at the end of the text do not count.
//
// Flag: --blank-lines, by which there must be as many empty lines at the end, too,
// and a last line that ends or does not.
#include "testlib1.h"

#include "flags.h"
#include "layout.h"
#include "manifest.h"

static struct stream output, answer;

// OTHER is what blank_rest returns if there is more than white space.
enum { OTHER = -2 };

// blank_rest consumes white space up to and with the end of the line, and returns
// how that ended.
static int blank_rest(struct stream *s)
{
	int c;
	while (c = stream_peek(s), is_space(c) && c != '\n')
		s->at++;
	if (c == '\n')
		s->at++;
	return c == '\n' || c == END ? c : OTHER;
}

int main(int argc, char **argv)
{
	if (argc < FLAGS)
		finish(FAILED, "", "usage: lines input output answer [--blank-lines]");
	int strict = 0;
	for (int i = FLAGS; i < argc; i++)
		if (!flag_switch(argv[i], "--blank-lines", &strict))
			flag_refused(argv[i]);
	stream_open(&output, argv[OUTPUT]);
	stream_open(&answer, argv[ANSWER]);

	for (;;) {
		size_t have = stream_fill(&output), want = stream_fill(&answer);
		size_t length = same_bytes(output.at, answer.at, have < want ? have : want);
		output.at += length;
		answer.at += length;
		int got = stream_peek(&output), due = stream_peek(&answer);
		if (got == due) {
			if (got == END)
				return ACCEPTED;
			continue; // only a buffer ended
		}
		uint64_t offset = stream_offset(&output);
		// The lines are the same so far, so both rests must be blank. After
		// the end of a text come empty lines without end.
		got = blank_rest(&output), due = blank_rest(&answer);
		if (got == OTHER || due == OTHER || (strict && got != due))
			finish_layout(&output, &answer, offset);
	}
}
