// A digest of 128 bits of a text that comes byte by byte, for texts to be compared
// without keeping them. It is SipHash-2-4 (Aumasson and Bernstein, 2012) with a fixed
// key and an output of 128 bits.
#ifndef DEEPOJ_DIGEST_H
#define DEEPOJ_DIGEST_H

#include <stdint.h>

struct digest {
	uint64_t v[4], word, length;
};

static inline uint64_t turned_left(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static inline void digest_rounds(uint64_t v[4], int rounds)
{
	while (rounds-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = turned_left(v[1], 13) ^ v[0];
		v[3] = turned_left(v[3], 16) ^ v[2];
		v[0] = turned_left(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = turned_left(v[1], 17) ^ v[2];
		v[3] = turned_left(v[3], 21) ^ v[0];
		v[2] = turned_left(v[2], 32);
	}
}

static inline void digest_begin(struct digest *d)
{
	static const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
	*d = (struct digest){.v = {
		key[0] ^ UINT64_C(0x736f6d6570736575),
		key[1] ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
		key[0] ^ UINT64_C(0x6c7967656e657261),
		key[1] ^ UINT64_C(0x7465646279746573),
	}};
}

static inline void digest_word(struct digest *d)
{
	d->v[3] ^= d->word;
	digest_rounds(d->v, 2);
	d->v[0] ^= d->word;
	d->word = 0;
}

static inline void digest_byte(struct digest *d, unsigned char c)
{
	d->word |= (uint64_t)c << 8 * (d->length % 8);
	if (++d->length % 8 == 0)
		digest_word(d);
}

static inline void digest_end(struct digest *d, uint64_t parts[2])
{
	d->word |= d->length << 56;
	digest_word(d);
	d->v[2] ^= 0xee;
	digest_rounds(d->v, 4);
	parts[0] = d->v[0] ^ d->v[1] ^ d->v[2] ^ d->v[3];
	d->v[1] ^= 0xdd;
	digest_rounds(d->v, 4);
	parts[1] = d->v[0] ^ d->v[1] ^ d->v[2] ^ d->v[3];
}

#endif
