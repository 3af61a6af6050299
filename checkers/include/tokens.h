// Two texts compared token by token, in one pass and at the speed of a memory
// comparison where they agree.
#ifndef DEEPOJ_TOKENS_H
#define DEEPOJ_TOKENS_H

#include "number.h"
#include "stream.h"
#include "text.h"

_Static_assert((int)DECIMAL_BYTES <= (int)STREAM_BEYOND, "decimal_read may look behind what is buffered");

struct rules {
	int ignore_case;           // of ASCII letters
	int spaces_matter;         // white space must agree byte for byte
	int numbers;               // a number in the answer is compared as a number
	double absolute, relative; // tolerances; negative: none
};

enum difference {
	SAME,
	DIFFERENT_SPACES,
	DIFFERENT_TOKEN,
	NOT_A_NUMBER, // where the answer has one
	TOO_FAR,      // a number beyond both tolerances
	TOO_SHORT,    // the output ends before the answer does
	TOO_LONG,
};

// A pair is the token being read in both texts, as far as it has been taken in:
// a number in progress and how it begins. So it may span any number of buffers.
struct pair {
	int inside; // some bytes of the token are consumed
	struct number number;
	struct excerpt output, answer;
};

static inline void pair_reset(struct pair *p)
{
	p->inside = 0;
	p->number = (struct number){0};
	p->output.length = p->answer.length = 0;
}

// pair_take takes in bytes that both texts have consumed. What is in front of
// the last token is of no interest.
__attribute__((noinline)) static void pair_take(struct pair *p, const struct rules *r, const unsigned char *bytes, size_t length)
{
	size_t token = length; // where it starts
	while (token > 0 && !is_space(bytes[token - 1]))
		token--;
	if (token > 0)
		pair_reset(p);
	bytes += token;
	length -= token;
	p->inside |= length > 0;
	if (r->numbers)
		number_span(&p->number, bytes, length);
	excerpt_add(&p->output, bytes, length);
	excerpt_add(&p->answer, bytes, length);
}

// pair_fold consumes the part of a token that is the same but for case.
__attribute__((noinline)) static void pair_fold(struct pair *p, const struct rules *r, struct stream *output, struct stream *answer)
{
	const unsigned char *o = output->at, *a = answer->at;
	size_t most = (size_t)(output->end - o) < (size_t)(answer->end - a) ? (size_t)(output->end - o) : (size_t)(answer->end - a);
	size_t length = 0;
	while (length < most && !is_space(o[length]) && lower(o[length]) == lower(a[length]))
		length++;
	output->at += length;
	answer->at += length;
	p->inside = 1;
	if (r->numbers)
		number_span(&p->number, o, length);
	excerpt_add(&p->output, o, length);
	excerpt_add(&p->answer, a, length);
}

// token_rest consumes what is left of a token.
static inline struct number token_rest(struct stream *s, struct number n, struct excerpt *e)
{
	while (!ends_token(stream_peek(s))) {
		const unsigned char *from = s->at;
		while (s->at < s->end && !is_space(*s->at))
			s->at++;
		number_span(&n, from, (size_t)(s->at - from));
		excerpt_add(e, from, (size_t)(s->at - from));
	}
	return n;
}

// pair_differs judges two tokens that part here, and consumes both.
__attribute__((noinline)) static enum difference pair_differs(struct pair *p, const struct rules *r, struct stream *output, struct stream *answer)
{
	struct number got = token_rest(output, p->number, &p->output);
	struct number want = token_rest(answer, p->number, &p->answer);
	if (!r->numbers || !number_valid(&want))
		return DIFFERENT_TOKEN;
	if (!number_valid(&got))
		return NOT_A_NUMBER;
	return number_close(&got, &want, r->absolute, r->relative) ? SAME : TOO_FAR;
}

// decimals_agree looks at two tokens that part behind length bytes that agree,
// at run in the output. When both are decimals that are close, and all of them
// is buffered, it consumes them, and likewise the numbers that follow until two
// are written alike.
__attribute__((noinline)) static int decimals_agree(const struct pair *p, const struct rules *r, struct stream *output,
                                                    struct stream *answer, size_t length)
{
	const unsigned char *o = output->at, *a = answer->at;
	size_t begun = 0; // of the token, in both
	while (begun < length && !is_space(o[-1]))
		begun++, o--;
	if (begun == length && p->inside)
		return 0;
	a -= begun;
	for (int agree = 0;; agree = 1) {
		struct decimal got, want;
		o = decimal_read(&got, o);
		a = decimal_read(&want, a);
		if (!o || !a || o >= output->end || a >= answer->end || !is_space(*o) || !is_space(*a) ||
		    !decimal_close(&got, &want, r->absolute, r->relative))
			return agree;
		output->at = o;
		answer->at = a;
		if (*o++ != *a++ || (got.digits == want.digits && got.count == want.count))
			return 1;
	}
}

// Offsets are where the two texts part.
struct offsets {
	uint64_t output, answer;
};

// compare_apart goes on where two different bytes meet, or where a text ends. It
// consumes something unless both end.
__attribute__((noinline)) static enum difference compare_apart(struct stream *output, struct stream *answer,
                                                               const struct rules *r, struct pair *p)
{
	int got = stream_peek(output), due = stream_peek(answer);
	if (got == due)
		return SAME;
	if (ends_token(got) && ends_token(due)) {
		if (r->spaces_matter)
			return DIFFERENT_SPACES;
	} else if (!p->inside && (ends_token(got) || ends_token(due))) {
		if (r->spaces_matter && got != END && due != END)
			return DIFFERENT_SPACES;
	} else if (r->ignore_case && lower(got) == lower(due)) {
		pair_fold(p, r, output, answer);
		return SAME;
	} else {
		enum difference d = pair_differs(p, r, output, answer);
		if (d == SAME)
			pair_reset(p);
		return d;
	}
	skip_spaces(output);
	skip_spaces(answer);
	pair_reset(p);
	got = stream_peek(output), due = stream_peek(answer);
	if (got == END && due != END)
		return TOO_SHORT;
	return due == END && got != END ? TOO_LONG : SAME;
}

// compare_tokens returns the first difference, if any. Afterwards p holds the
// tokens that differ, and *at where they do.
static inline enum difference compare_tokens(struct stream *output, struct stream *answer, const struct rules *r,
                                             struct pair *p, struct offsets *at)
{
	pair_reset(p);
	for (;;) {
		size_t have = stream_fill(output), want = stream_fill(answer);
		const unsigned char *run = output->at; // bytes that agree, not yet taken in
		size_t both = have < want ? have : want;
		size_t length = r->spaces_matter ? same_bytes(run, answer->at, both) : same_tokens(run, answer->at, both);
		output->at += length;
		answer->at += length;
		if (length < have && length < want) {
			// The texts part in front of these two bytes.
			int got = *output->at, due = *answer->at;
			int inside = length > 0 ? !is_space(run[length - 1]) : p->inside;
			if (!r->spaces_matter && !inside && (is_space(got) || is_space(due))) {
				// One has more white space between two tokens.
				skip_spaces(output);
				skip_spaces(answer);
				pair_reset(p);
				continue;
			}
			if (r->numbers && decimals_agree(p, r, output, answer, length)) {
				pair_reset(p);
				continue;
			}
		} else if (have > 0 && want > 0) {
			pair_take(p, r, run, length); // only a buffer ended
			continue;
		}
		pair_take(p, r, run, length);
		*at = (struct offsets){stream_offset(output), stream_offset(answer)};
		enum difference d = compare_apart(output, answer, r, p);
		if (d != SAME)
			return d;
		if (stream_peek(output) == END && stream_peek(answer) == END)
			return SAME;
	}
}

#endif
