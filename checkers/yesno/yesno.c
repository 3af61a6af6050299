// yesno accepts the right words among "yes" and "no", in any case. There may be
// one or many, separated by white space.
#include "testlib1.h"

#include "flags.h"
#include "manifest.h"
#include "report.h"

enum word { NO, YES, NOTHING, OTHER };

static struct stream output, answer;

static enum word next_word(struct stream *s, struct excerpt *e)
{
	char letters[4] = {0};
	unsigned length = 0;
	e->length = 0;
	skip_spaces(s);
	for (int c; !ends_token(c = stream_peek(s)); s->at++, length++) {
		if (length < sizeof letters - 1)
			letters[length] = (char)lower(c);
		excerpt_add(e, s->at, 1);
	}
	if (length == 0)
		return NOTHING;
	if (length == 3 && memcmp(letters, "yes", 3) == 0)
		return YES;
	return length == 2 && memcmp(letters, "no", 2) == 0 ? NO : OTHER;
}

int main(int argc, char **argv)
{
	if (argc < FLAGS)
		finish(FAILED, "", "usage: yesno input output answer");
	if (argc > FLAGS)
		flag_refused(argv[FLAGS]);
	stream_open(&output, argv[OUTPUT]);
	stream_open(&answer, argv[ANSWER]);

	struct excerpt got_text, due_text;
	for (uint64_t word = 1;; word++) {
		enum word due = next_word(&answer, &due_text);
		if (due == OTHER)
			finish(FAILED, "", "the answer holds something other than yes and no");
		enum word got = next_word(&output, &got_text);
		if (got == due) {
			if (due == NOTHING)
				return ACCEPTED;
			continue;
		}
		struct text team = {0};
		text_string(&team, "word ");
		text_number(&team, word);
		if (got == NOTHING)
			text_string(&team, ": the output ends too early");
		else if (due == NOTHING)
			text_string(&team, ": the output goes on where it should end");
		else if (got == OTHER) {
			text_string(&team, ": expected yes or no, read ");
			text_excerpt(&team, &got_text);
		} else
			text_string(&team, " is wrong");
		finish(WRONG, team.bytes, "");
	}
}
