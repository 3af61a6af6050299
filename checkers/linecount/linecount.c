// linecount gives a part of the points for each line of the answer that the output has
// at the same place. Empty lines do not count, nor does white space at the ends of
// others. An output with more lines than the answer is wrong.
//
// Flag: --points=P, what the test is worth. Without it only all lines are accepted.
#include "testlib1.h"

#include "flags.h"
#include "manifest.h"
#include "partial.h"
#include "rest.h"

static struct stream output, answer;

// next_line goes to the first byte of the next line that is not empty. It reports
// whether there is one.
static int next_line(struct stream *s)
{
	while (ends_line(stream_peek(s)))
		s->at++;
	return stream_peek(s) != END;
}

static int ends(int c)
{
	return c == END || ends_line(c);
}

// skip_within consumes white space within a line.
static int skip_within(struct stream *s)
{
	int n = 0, c;
	for (; c = stream_peek(s), is_space(c) && !ends_line(c); n++)
		s->at++;
	return n;
}

static void skip_line(struct stream *s)
{
	while (!ends(stream_peek(s)))
		s->at++;
}

// same_blank consumes white space within a line of both. At the end of a line it does
// not count, else it must be the same.
static int same_blank(void)
{
	int same = 1;
	for (;;) {
		int a = stream_peek(&output), b = stream_peek(&answer);
		int x = is_space(a) && !ends_line(a), y = is_space(b) && !ends_line(b);
		if (!x || !y || a != b) {
			same = !x && !y;
			break;
		}
		output.at++;
		answer.at++;
	}
	skip_within(&output);
	skip_within(&answer);
	return same || (ends(stream_peek(&output)) && ends(stream_peek(&answer)));
}

// same_line consumes a line of both and reports whether they are the same but for
// white space at their ends.
static int same_line(void)
{
	skip_within(&output);
	skip_within(&answer);
	int same = 1;
	while (same && !(ends(stream_peek(&output)) && ends(stream_peek(&answer)))) {
		int a = stream_peek(&output), b = stream_peek(&answer);
		if (is_space(a) || is_space(b) || a == END || b == END) {
			same = same_blank();
			if (same && ends(stream_peek(&output)) != ends(stream_peek(&answer)))
				same = 0;
		} else if ((same = a == b)) {
			output.at++;
			answer.at++;
		}
	}
	skip_line(&output);
	skip_line(&answer);
	return same;
}

int main(int argc, char **argv)
{
	if (argc < FLAGS)
		finish(FAILED, "", "usage: linecount input output answer [--points=P]");
	double worth = 0;
	for (int i = FLAGS; i < argc; i++) {
		const char *value = flag_value(argv[i], "--points");
		if (!value)
			flag_refused(argv[i]);
		worth = tolerance(argv[i], value);
		if (!(worth <= 1e12))
			flag_refused(argv[i]);
	}
	stream_open(&output, argv[OUTPUT]);
	stream_open(&answer, argv[ANSWER]);

	uint64_t lines = 0, right = 0;
	int more = next_line(&output);
	while (next_line(&answer)) {
		lines++;
		if (more) {
			right += (uint64_t)same_line();
			more = next_line(&output);
		} else {
			skip_line(&answer);
		}
	}
	struct text team = {0};
	if (more) {
		text_string(&team, "the output has more lines than it should have");
		finish(WRONG, team.bytes, "");
	}
	if (right == lines)
		return ACCEPTED;
	int partly = worth > 0 && right > 0;
	if (partly) {
		text_points(&team, worth * (double)right / (double)lines);
		text_byte(&team, ' ');
	}
	text_number(&team, right);
	text_string(&team, " of ");
	text_number(&team, lines);
	text_string(&team, " lines are right");
	if (partly)
		finish_partly(team.bytes);
	finish(WRONG, team.bytes, "");
}
