// Decimal numbers, read one byte at a time so that no token needs a buffer, and
// compared without losing what a double would lose.
//
// A number is [+-] digits [. digits] [e [+-] digits] with at least one digit
// before the exponent. "inf", "nan" and hexadecimal are words, not numbers.
#ifndef DEEPOJ_NUMBER_H
#define DEEPOJ_NUMBER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum number_state {
	NUMBER_START,
	NUMBER_SIGN,
	NUMBER_WHOLE,
	NUMBER_POINT, // a point without a digit so far
	NUMBER_FRACTION,
	NUMBER_E,
	NUMBER_E_SIGN,
	NUMBER_EXPONENT,
	NUMBER_BAD,
};

// The value is digits * 10^(scale + exponent), negated if negative.
struct number {
	enum number_state state;
	int negative, exponent_negative;
	uint64_t digits; // the first 18 or 19 significant ones
	int64_t scale, exponent;
};

// More digits than this are beyond what any tolerance can see.
#define DIGITS_FULL UINT64_C(1000000000000000000)

static inline void number_digit(struct number *n, unsigned digit, int fraction)
{
	if (n->digits < DIGITS_FULL) {
		n->digits = n->digits * 10 + digit;
		n->scale -= fraction;
	} else {
		n->scale += !fraction;
	}
}

__attribute__((noinline)) static void number_feed(struct number *n, int c)
{
	unsigned digit = (unsigned)c - '0';
	int is_digit = digit < 10, is_e = c == 'e' || c == 'E', is_sign = c == '+' || c == '-';
	switch (n->state) {
	case NUMBER_START:
		if (is_sign) {
			n->state = NUMBER_SIGN;
			n->negative = c == '-';
			return;
		}
		// fall through
	case NUMBER_SIGN:
	case NUMBER_WHOLE:
		if (is_digit) {
			n->state = NUMBER_WHOLE;
			number_digit(n, digit, 0);
		} else if (c == '.') {
			n->state = n->state == NUMBER_WHOLE ? NUMBER_FRACTION : NUMBER_POINT;
		} else {
			n->state = is_e && n->state == NUMBER_WHOLE ? NUMBER_E : NUMBER_BAD;
		}
		return;
	case NUMBER_POINT:
	case NUMBER_FRACTION:
		if (is_digit) {
			n->state = NUMBER_FRACTION;
			number_digit(n, digit, 1);
		} else {
			n->state = is_e && n->state == NUMBER_FRACTION ? NUMBER_E : NUMBER_BAD;
		}
		return;
	case NUMBER_E:
		if (is_sign) {
			n->state = NUMBER_E_SIGN;
			n->exponent_negative = c == '-';
			return;
		}
		// fall through
	case NUMBER_E_SIGN:
	case NUMBER_EXPONENT:
		n->state = is_digit ? NUMBER_EXPONENT : NUMBER_BAD;
		if (n->exponent < INT64_C(1000000000000))
			n->exponent = n->exponent * 10 + digit;
		return;
	case NUMBER_BAD:
		return;
	}
}

// number_span feeds several bytes, digits in a tight loop.
static inline void number_span(struct number *n, const unsigned char *bytes, size_t length)
{
	for (size_t i = 0; i < length && n->state != NUMBER_BAD; i++) {
		number_feed(n, bytes[i]);
		if (n->state != NUMBER_WHOLE && n->state != NUMBER_FRACTION)
			continue;
		uint64_t digits = n->digits;
		size_t first = ++i, dropped = 0;
		for (; i < length && (unsigned)bytes[i] - '0' < 10; i++) {
			if (digits < DIGITS_FULL)
				digits = digits * 10 + (bytes[i] - '0');
			else
				dropped++;
		}
		n->digits = digits;
		n->scale += n->state == NUMBER_FRACTION ? (int64_t)dropped - (int64_t)(i - first) : (int64_t)dropped;
		i--;
	}
}

// number_valid reports whether the bytes fed so far are a number.
static inline int number_valid(const struct number *n)
{
	return n->state == NUMBER_WHOLE || n->state == NUMBER_FRACTION || n->state == NUMBER_EXPONENT;
}

static inline int64_t number_power(const struct number *n)
{
	return n->scale + (n->exponent_negative ? -n->exponent : n->exponent);
}

// scaled returns x * 10^power to within a few units in the last place.
static inline double scaled(double x, int64_t power)
{
	static const double powers[] = {1e1, 1e2, 1e4, 1e8, 1e16, 1e32, 1e64, 1e128, 1e256};
	int down = power < 0;
	uint64_t p = down ? -(uint64_t)power : (uint64_t)power;
	if (x == 0)
		return 0;
	if (p >= 400)
		return down ? 0 : __builtin_inf();
	for (int i = 0; p > 0; i++, p >>= 1)
		if (p & 1)
			x = down ? x / powers[i] : x * powers[i];
	return x;
}

// A wide is an unsigned integer of 128 bits.
struct wide {
	uint64_t high, low;
};

static inline struct wide wide_add(struct wide a, struct wide b)
{
	struct wide sum = {a.high + b.high, a.low + b.low};
	sum.high += sum.low < a.low;
	return sum;
}

static inline struct wide wide_distance(struct wide a, struct wide b)
{
	if (a.high < b.high || (a.high == b.high && a.low < b.low)) {
		struct wide swap = a;
		a = b;
		b = swap;
	}
	struct wide gap = {a.high - b.high - (a.low < b.low), a.low - b.low};
	return gap;
}

static inline struct wide wide_double(struct wide a)
{
	return wide_add(a, a);
}

static inline struct wide wide_times_ten(struct wide a)
{
	struct wide twice = wide_double(a);
	return wide_add(twice, wide_double(wide_double(twice)));
}

static inline double wide_value(struct wide a)
{
	return (double)a.high * 18446744073709551616.0 + (double)a.low;
}

// number_distance returns |a - b|. The subtraction itself is exact as far as 18
// digits of each number go, so it sees a difference of 1 between integers that
// share their nearest double.
static inline double number_distance(const struct number *a, const struct number *b)
{
	int64_t power_a = number_power(a), power_b = number_power(b);
	struct wide wide_a = {0, a->digits}, wide_b = {0, b->digits};
	if (!a->digits)
		return scaled((double)b->digits, power_b);
	if (!b->digits)
		return scaled((double)a->digits, power_a);
	if (power_a < power_b) {
		struct wide swap = wide_a;
		wide_a = wide_b;
		wide_b = swap;
		int64_t swap_power = power_a;
		power_a = power_b;
		power_b = swap_power;
	}
	// Bring the one with the greater power down to the other's, within 126 bits.
	while (power_a > power_b && wide_a.high < UINT64_C(1) << 58) {
		wide_a = wide_times_ten(wide_a);
		power_a--;
	}
	if (power_a > power_b) // more than 10^17 times the other
		return scaled(wide_value(wide_a), power_a);
	struct wide gap = a->negative == b->negative ? wide_distance(wide_a, wide_b) : wide_add(wide_a, wide_b);
	return scaled(wide_value(gap), power_a);
}

// number_close reports whether got is within the absolute tolerance of want, or
// within the relative one. A negative tolerance is none. A number on the border
// is inside: each tolerance is widened by one part in 10^12, far more than the
// arithmetic here can err.
static inline int number_close(const struct number *got, const struct number *want, double absolute, double relative)
{
	double distance = number_distance(got, want);
	double size = scaled((double)want->digits, number_power(want));
	double slack = 1 + 1e-12;
	if (distance == 0)
		return 1;
	if (!(distance < __builtin_inf()))
		return 0;
	return (absolute >= 0 && distance <= absolute * slack) ||
	       (relative >= 0 && distance <= relative * size * slack);
}

// A decimal is a number as most are written: [+-] digits [. digits], at most 18
// digits in all, no exponent. Its value is digits / 10^fraction.
struct decimal {
	uint64_t digits;
	unsigned count, fraction; // of digits; of those behind the point
	int negative;
};

enum { DECIMAL_DIGITS = 18 };

static const uint64_t decimal_powers[DECIMAL_DIGITS + 1] = {
	UINT64_C(1), UINT64_C(10), UINT64_C(100), UINT64_C(1000), UINT64_C(10000), UINT64_C(100000), UINT64_C(1000000),
	UINT64_C(10000000), UINT64_C(100000000), UINT64_C(1000000000), UINT64_C(10000000000), UINT64_C(100000000000),
	UINT64_C(1000000000000), UINT64_C(10000000000000), UINT64_C(100000000000000), UINT64_C(1000000000000000),
	UINT64_C(10000000000000000), UINT64_C(100000000000000000), UINT64_C(1000000000000000000),
};

// The most bytes that decimal_read looks at, whatever they are.
enum { DECIMAL_BYTES = 1 + 24 + 1 + 24 };

// decimal_digits reads digits, eight at a time, and returns what follows them.
// It stops early once there are too many.
static inline const unsigned char *decimal_digits(struct decimal *d, const unsigned char *at)
{
	for (unsigned n = 8; n == 8 && d->count <= DECIMAL_DIGITS;) {
		uint64_t x;
		memcpy(&x, at, 8);
		x ^= UINT64_C(0x3030303030303030); // digits become 0 to 9, other bytes more
		// The lowest high bit is that of the first byte that is more than 9: what
		// carries can only disturb bytes behind it.
		uint64_t others = (x | (x + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080);
		n = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
		d->count += n;
		if (n == 0 || d->count > DECIMAL_DIGITS)
			break;
		at += n;
		// The digits to the far end, zeros in front of them; then neighbours are
		// joined to numbers of two, four and eight digits.
		x <<= 8 * (8 - n);
		x = (x * 10 + (x >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
		x = (x * 100 + (x >> 16)) & UINT64_C(0x0000ffff0000ffff);
		x = (x * 10000 + (x >> 32)) & UINT64_C(0xffffffff);
		d->digits = d->digits * decimal_powers[n] + x;
	}
	return at;
}

// decimal_read reads a decimal and returns the byte behind it, or NULL when what
// is there is no decimal. DECIMAL_BYTES must be readable.
static inline const unsigned char *decimal_read(struct decimal *d, const unsigned char *at)
{
	d->negative = *at == '-';
	at += *at == '-' || *at == '+';
	d->digits = 0;
	d->count = 0;
	at = decimal_digits(d, at);
	unsigned whole = d->count;
	if (*at == '.')
		at = decimal_digits(d, at + 1);
	d->fraction = d->count - whole;
	return d->count > 0 && d->count <= DECIMAL_DIGITS ? at : NULL;
}

// decimal_close is number_close for decimals. It returns 0 also when the numbers
// have too many digits together to be subtracted here.
static inline int decimal_close(const struct decimal *got, const struct decimal *want, double absolute, double relative)
{
	uint64_t x = got->digits, y = want->digits;
	unsigned fraction = got->fraction;
	if (got->fraction < want->fraction) {
		fraction = want->fraction;
		if (got->count + fraction - got->fraction > DECIMAL_DIGITS)
			return 0;
		x *= decimal_powers[fraction - got->fraction];
	} else {
		if (want->count + fraction - want->fraction > DECIMAL_DIGITS)
			return 0;
		y *= decimal_powers[fraction - want->fraction];
	}
	uint64_t gap = got->negative == want->negative ? (x > y ? x - y : y - x) : x + y;
	double unit = (double)decimal_powers[fraction], slack = 1 + 1e-12; // see number_close
	double distance = (double)gap / unit;
	return gap == 0 || (absolute >= 0 && distance <= absolute * slack) ||
	       (relative >= 0 && distance <= relative * ((double)y / unit) * slack);
}

#endif
