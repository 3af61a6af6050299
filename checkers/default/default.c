// default is the output validator of ICPC problem packages that bring none:
// tokens, without regard to case, numbers within a tolerance if one is given.
//
// Flags, as in validator_flags: case_sensitive, space_change_sensitive,
// float_relative_tolerance E, float_absolute_tolerance E, float_tolerance E.
#include "icpc1.h"

#include "flags.h"
#include "manifest.h"
#include "report.h"

static struct stream output = {.fd = STDIN_FILENO}, answer;

// read_flags turns the command line into rules.
static struct rules read_flags(char **flags)
{
	struct rules r = {.ignore_case = 1, .absolute = -1, .relative = -1};
	for (; *flags; flags++) {
		if (strcmp(*flags, "case_sensitive") == 0) {
			r.ignore_case = 0;
			continue;
		}
		if (strcmp(*flags, "space_change_sensitive") == 0) {
			r.spaces_matter = 1;
			continue;
		}
		int both = strcmp(*flags, "float_tolerance") == 0;
		int absolute = both || strcmp(*flags, "float_absolute_tolerance") == 0;
		int relative = both || strcmp(*flags, "float_relative_tolerance") == 0;
		if ((!absolute && !relative) || !flags[1])
			flag_refused(*flags);
		flags++;
		double e = tolerance(flags[0], flags[0]);
		if (absolute)
			r.absolute = e;
		if (relative)
			r.relative = e;
		r.numbers = 1;
	}
	return r;
}

int main(int argc, char **argv)
{
	if (argc < FLAGS)
		finish(FAILED, "", "usage: default input answer feedback_folder/ [flags] < output");
	struct rules rules = read_flags(argv + FLAGS);
	feedback_folder = argv[FEEDBACK];
	output.at = output.end = output.buffer;
	stream_open(&answer, argv[ANSWER]);

	struct pair pair;
	struct offsets at;
	enum difference d = compare_tokens(&output, &answer, &rules, &pair, &at);
	if (d == SAME)
		finish(ACCEPTED, "", "");
	// The output cannot be read again, but the answer can: the number of the
	// token is the same in both, the line is told to staff only.
	struct text team = {0}, staff = {0};
	struct place place = stream_place(&answer, at.answer);
	say_difference(&team, d, (struct place){.token = place.token}, &pair);
	text_string(&staff, team.bytes);
	text_string(&staff, "; line ");
	text_number(&staff, place.line);
	text_string(&staff, " of the answer");
	if (d == DIFFERENT_TOKEN || d == TOO_FAR || d == NOT_A_NUMBER) {
		text_string(&staff, "; read ");
		text_excerpt(&staff, &pair.output);
		text_string(&staff, ", expected ");
		text_excerpt(&staff, &pair.answer);
	}
	finish(WRONG, team.bytes, staff.bytes);
}
