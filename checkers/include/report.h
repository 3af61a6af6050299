// The words for a difference.
#ifndef DEEPOJ_REPORT_H
#define DEEPOJ_REPORT_H

#include "tokens.h"

// say_difference writes what a team may know: where, and what kind, but never
// what the answer holds. Line 0 is left out.
static inline void say_difference(struct text *t, enum difference d, struct place at, const struct pair *p)
{
	static const char *const words[] = {
		[SAME] = " agrees",
		[DIFFERENT_SPACES] = ": different white space",
		[DIFFERENT_TOKEN] = " is wrong",
		[NOT_A_NUMBER] = ": expected a number, read ",
		[TOO_FAR] = ": the number is too far off",
		[TOO_SHORT] = ": the output ends too early",
		[TOO_LONG] = ": the output goes on where it should end",
	};
	text_string(t, "token ");
	text_number(t, at.token);
	if (at.line > 0) {
		text_string(t, " (line ");
		text_number(t, at.line);
		text_byte(t, ')');
	}
	text_string(t, words[d]);
	if (d == NOT_A_NUMBER)
		text_excerpt(t, &p->output);
}

#endif
