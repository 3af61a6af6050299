// lines accepts an output whose lines are those of the answer. White space at
// the end of a line and empty lines at the end of the text do not count.
#include "testlib1.h"

#include "flags.h"
#include "layout.h"
#include "manifest.h"

static struct stream output, answer;

// blank_rest consumes white space up to and with the end of the line. It
// reports whether nothing else was there.
static int blank_rest(struct stream *s)
{
	int c;
	while (c = stream_peek(s), is_space(c) && c != '\n')
		s->at++;
	if (c == '\n')
		s->at++;
	return c == '\n' || c == END;
}

int main(int argc, char **argv)
{
	if (argc < FLAGS)
		finish(FAILED, "", "usage: lines input output answer");
	if (argc > FLAGS)
		flag_refused(argv[FLAGS]);
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
		if (!blank_rest(&output) || !blank_rest(&answer))
			finish_layout(&output, &answer, offset);
	}
}
