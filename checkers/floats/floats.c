// floats accepts an output whose numbers are close to those of the answer. A
// token of the answer that is not a number must be matched exactly.
//
// Flags: --eps=E for both tolerances (1e-6 when no flag is given), or
// --absolute=E and --relative=E. One tolerance that holds is enough.
#include "testlib1.h"

#include "flags.h"
#include "manifest.h"
#include "report.h"

static struct stream output, answer;

int main(int argc, char **argv)
{
	if (argc < FLAGS)
		finish(FAILED, "", "usage: floats input output answer [--eps=E] [--absolute=E] [--relative=E]");
	struct rules rules = {.numbers = 1, .absolute = -1, .relative = -1};
	for (int i = FLAGS; i < argc; i++) {
		const char *value;
		if ((value = flag_value(argv[i], "--eps")))
			rules.absolute = rules.relative = tolerance(argv[i], value);
		else if ((value = flag_value(argv[i], "--absolute")))
			rules.absolute = tolerance(argv[i], value);
		else if ((value = flag_value(argv[i], "--relative")))
			rules.relative = tolerance(argv[i], value);
		else
			flag_refused(argv[i]);
	}
	if (rules.absolute < 0 && rules.relative < 0)
		rules.absolute = rules.relative = 1e-6;
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
