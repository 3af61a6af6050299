// Lines and the words in them, one after the other: what checkers have in common to
// which it matters on which line a word is.
#ifndef DEEPOJ_REST_H
#define DEEPOJ_REST_H

#include "stream.h"

static inline int ends_line(int c)
{
	return c == '\n' || c == '\r';
}

// skip_blank consumes white space. It reports whether a line ended in it.
static inline int skip_blank(struct stream *s)
{
	int ended = 0, c;
	while (c = stream_peek(s), is_space(c)) {
		ended |= ends_line(c);
		s->at++;
	}
	return ended;
}

#endif
