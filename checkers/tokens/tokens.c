// tokens accepts an output whose tokens are those of the answer. White space
// only separates.
//
// Flag: --ignore-case (ASCII letters).
#include "testlib1.h"

#include "flags.h"
#include "manifest.h"
#include "report.h"

static struct stream output, answer;

int main(int argc, char **argv)
{
	if (argc < FLAGS)
		finish(FAILED, "", "usage: tokens input output answer [--ignore-case]");
	struct rules rules = {.absolute = -1, .relative = -1};
	for (int i = FLAGS; i < argc; i++)
		if (!flag_switch(argv[i], "--ignore-case", &rules.ignore_case))
			flag_refused(argv[i]);
	stream_open(&output, argv[OUTPUT]);
	stream_open(&answer, argv[ANSWER]);

	struct pair pair;
	struct offsets at;
	enum difference d = compare_tokens(&output, &answer, &rules, &pair, &at);
	if (d == SAME)
		return ACCEPTED;
	struct text team = {0};
	say_difference(&team, d, stream_place(&output, at.output), &pair);
	finish(WRONG, team.bytes, "");
}
