// For checkers to whom the layout matters: a difference in white space alone is
// a presentation error, any other a wrong answer.
#ifndef DEEPOJ_LAYOUT_H
#define DEEPOJ_LAYOUT_H

#include "report.h"

// finish_layout ends the checker after a difference at this offset.
_Noreturn static inline void finish_layout(struct stream *output, struct stream *answer, uint64_t offset)
{
	struct rules rules = {.absolute = -1, .relative = -1};
	struct pair pair;
	struct text team = {0};
	struct offsets at;
	stream_rewind(output);
	stream_rewind(answer);
	enum difference d = compare_tokens(output, answer, &rules, &pair, &at);
	if (d != SAME) {
		say_difference(&team, d, stream_place(output, at.output), &pair);
		finish(WRONG, team.bytes, "");
	}
	text_string(&team, "line ");
	text_number(&team, stream_place(output, offset).line);
	text_string(&team, ": the words are right, the white space is not");
	finish(PRESENTATION, team.bytes, "");
}

#endif
