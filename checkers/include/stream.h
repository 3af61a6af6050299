// A file read once, from the front, through one buffer. A file of any size and
// with tokens of any length costs the same memory.
#ifndef DEEPOJ_STREAM_H
#define DEEPOJ_STREAM_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "outcome.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "same_bytes needs a little-endian machine"
#endif

// How much is read at once, and how many bytes behind it may be looked at without
// asking what they are.
enum { STREAM_BUFFER = 1 << 16, STREAM_BEYOND = 64 };

struct stream {
	int fd;
	int ended;                     // read has returned 0
	uint64_t start;                // offset in the file of buffer[0]
	const unsigned char *at, *end; // what is read but not consumed
	unsigned char buffer[STREAM_BUFFER + STREAM_BEYOND];
};

// END is what stream_peek returns at the end of the file.
enum { END = -1 };

static inline void stream_open(struct stream *s, const char *path)
{
	s->fd = open(path, O_RDONLY);
	if (s->fd < 0)
		finish(FAILED, "", "the checker cannot open a file it was given");
	s->at = s->end = s->buffer;
}

// stream_rewind starts again at the front of a file that was opened by path.
static inline void stream_rewind(struct stream *s)
{
	if (lseek(s->fd, 0, SEEK_SET) != 0)
		finish(FAILED, "", "the checker cannot read a file twice");
	s->ended = 0;
	s->start = 0;
	s->at = s->end = s->buffer;
}

// stream_read buffers the next bytes once all are consumed. It is kept out of
// line because a guest pays for every instruction of the loop that holds it.
__attribute__((noinline)) static void stream_read(struct stream *s)
{
	while (s->at == s->end && !s->ended) {
		s->start += (uint64_t)(s->end - s->buffer);
		s->at = s->end = s->buffer;
		ssize_t n = read(s->fd, s->buffer, STREAM_BUFFER);
		if (n > 0)
			s->end += n;
		else if (n == 0)
			s->ended = 1;
		else if (errno != EINTR)
			finish(FAILED, "", "the checker cannot read a file it was given");
	}
}

// stream_fill makes sure that something is buffered. It returns how many bytes
// are, which is 0 only at the end of the file.
static inline size_t stream_fill(struct stream *s)
{
	if (s->at == s->end)
		stream_read(s);
	return (size_t)(s->end - s->at);
}

static inline int stream_peek(struct stream *s)
{
	return stream_fill(s) ? *s->at : END;
}

// stream_offset is how many bytes have been consumed.
static inline uint64_t stream_offset(const struct stream *s)
{
	return s->start + (uint64_t)(s->at - s->buffer);
}

static inline int is_space(int c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

// ends_token reports whether no token goes on with c.
static inline int ends_token(int c)
{
	return c == END || is_space(c);
}

static inline int lower(int c)
{
	return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

static inline void skip_spaces(struct stream *s)
{
	while (is_space(stream_peek(s)))
		s->at++;
}

// A block is what is compared at once.
typedef unsigned char block __attribute__((vector_size(16)));

_Static_assert(STREAM_BEYOND >= sizeof(block), "blocks may begin with the last byte that is buffered");

static inline block block_at(const unsigned char *bytes)
{
	block b;
	memcpy(&b, bytes, sizeof b);
	return b;
}

// What white space is compared with. An engine of WebAssembly may put a constant
// between the instructions of a loop, where reading it is ten times as slow as all
// the loop does else; what has to be read from memory is read once.
struct spaces {
	block space, first, span;
};

static const volatile unsigned char space_bytes[] = {' ', '\t', '\r' - '\t'};

static inline block block_of(unsigned char c)
{
	return (block){c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c};
}

static inline struct spaces spaces(void)
{
	return (struct spaces){block_of(space_bytes[0]), block_of(space_bytes[1]), block_of(space_bytes[2])};
}

// block_spaces has all bits set where b has white space.
static inline block block_spaces(block b, const struct spaces *s)
{
	return (block)(b == s->space) | (block)(b - s->first <= s->span);
}

// block_first returns where the first byte is of which not all bits are set.
static inline size_t block_first(block b)
{
	typedef uint64_t halves __attribute__((vector_size(16)));
	halves clear = ~(halves)b;
	if (clear[0])
		return (size_t)__builtin_ctzll(clear[0]) / 8;
	return clear[1] ? 8 + (size_t)__builtin_ctzll(clear[1]) / 8 : sizeof b;
}

// same_bytes returns how long two texts agree, at most length. It may look at
// STREAM_BEYOND bytes more.
static inline size_t same_bytes(const unsigned char *a, const unsigned char *b, size_t length)
{
	for (size_t i = 0, n; i < length; i += sizeof(block))
		if (n = block_first((block)(block_at(a + i) == block_at(b + i))), n < sizeof(block))
			return i + n < length ? i + n : length;
	return length;
}

// same_tokens is same_bytes to which all white space is alike.
static inline size_t same_tokens(const unsigned char *a, const unsigned char *b, size_t length)
{
	struct spaces s = spaces();
	for (size_t i = 0, n; i < length; i += sizeof(block)) {
		block x = block_at(a + i), y = block_at(b + i);
		if (n = block_first((block)(x == y) | (block_spaces(x, &s) & block_spaces(y, &s))), n < sizeof(block))
			return i + n < length ? i + n : length;
	}
	return length;
}

// A place in a text, as people count: from one.
struct place {
	uint64_t line, token;
};

// stream_place finds the place of an offset by reading the file again. The
// token is the one that the offset lies in, or the next one.
static inline struct place stream_place(struct stream *s, uint64_t offset)
{
	struct place p = {1, 0};
	int inside = 0;
	stream_rewind(s);
	while (stream_offset(s) < offset) {
		int c = stream_peek(s);
		if (c == END)
			break;
		s->at++;
		p.line += c == '\n';
		p.token += !inside && !is_space(c);
		inside = !is_space(c);
	}
	p.token += !inside;
	return p;
}

#endif
