// letters accepts an output that has each letter, digit and sign as often as the answer
// has it, in any order. White space does not count, nor does the case of ASCII letters.
#include "testlib1.h"

#include "flags.h"
#include "manifest.h"
#include "stream.h"

static struct stream output, answer;

// The bytes that are no white space, and how often each comes.
static uint64_t got[256], want[256];

static uint64_t count(struct stream *s, uint64_t counts[256])
{
	uint64_t all = 0;
	while (stream_fill(s))
		for (; s->at < s->end; s->at++)
			if (!is_space(*s->at)) {
				counts[lower(*s->at)]++;
				all++;
			}
	return all;
}

int main(int argc, char **argv)
{
	if (argc < FLAGS)
		finish(FAILED, "", "usage: letters input output answer");
	if (argc > FLAGS)
		flag_refused(argv[FLAGS]);
	stream_open(&output, argv[OUTPUT]);
	stream_open(&answer, argv[ANSWER]);

	uint64_t have = count(&output, got), due = count(&answer, want);
	if (memcmp(got, want, sizeof got) == 0)
		return ACCEPTED;
	struct text team = {0};
	text_string(&team, "the output has ");
	text_number(&team, have);
	text_string(&team, " signs, ");
	text_string(&team, have < due ? "too few" : have > due ? "too many" : "and not those that it should have");
	finish(WRONG, team.bytes, "");
}
