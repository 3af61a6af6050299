// Messages without stdio: a text of bounded length that never overflows.
#ifndef DEEPOJ_TEXT_H
#define DEEPOJ_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
	size_t length; // without the final zero
	char bytes[512];
};

static inline void text_byte(struct text *t, char c)
{
	if (t->length + 1 < sizeof t->bytes) {
		t->bytes[t->length++] = c;
		t->bytes[t->length] = 0;
	}
}

static inline void text_string(struct text *t, const char *s)
{
	while (*s)
		text_byte(t, *s++);
}

static inline void text_number(struct text *t, uint64_t n)
{
	char digits[20];
	int i = 0;
	do
		digits[i++] = (char)('0' + n % 10);
	while (n /= 10);
	while (i > 0)
		text_byte(t, digits[--i]);
}

// An excerpt is the beginning of a token, for people to read.
struct excerpt {
	unsigned length; // greater than what bytes can hold if there is more
	unsigned char bytes[40];
};

static inline void excerpt_add(struct excerpt *e, const unsigned char *bytes, size_t length)
{
	size_t room = sizeof e->bytes + 1 - e->length; // the last one says that there is more
	size_t i = 0;
	for (; i < length && i + 1 < room; i++)
		e->bytes[e->length++] = bytes[i];
	e->length += i < length && room > 0;
}

// text_excerpt quotes e. Bytes that are not printable ASCII become '?', so the
// message is valid UTF-8 whatever was in the file.
static inline void text_excerpt(struct text *t, const struct excerpt *e)
{
	unsigned shown = e->length < sizeof e->bytes ? e->length : sizeof e->bytes;
	text_byte(t, '"');
	for (unsigned i = 0; i < shown; i++)
		text_byte(t, e->bytes[i] >= ' ' && e->bytes[i] < 127 ? (char)e->bytes[i] : '?');
	text_string(t, e->length > shown ? "...\"" : "\"");
}

#endif
