// rows accepts an output that has the tokens of the answer on the same lines. Lines
// without a token do not count, nor does how much white space there is. With a
// tolerance, numbers need only be close.
//
// Flags: --ignore-case (ASCII letters), --eps=E for both tolerances, or --absolute=E
// and --relative=E. One tolerance that holds is enough.
#include "testlib1.h"

#include "flags.h"
#include "manifest.h"
#include "report.h"
#include "rest.h"

static struct stream output, answer;

// reject ends the checker at the token that begins at an offset of the output.
_Noreturn static void reject(enum difference d, uint64_t offset, const struct pair *p)
{
	struct text team = {0};
	say_difference(&team, d, stream_place(&output, offset), p);
	finish(WRONG, team.bytes, "");
}

// reject_rows ends the checker where one text begins a line and the other does not.
_Noreturn static void reject_rows(uint64_t offset)
{
	struct text team = {0};
	struct place at = stream_place(&output, offset);
	text_string(&team, "token ");
	text_number(&team, at.token);
	text_string(&team, " (line ");
	text_number(&team, at.line);
	text_string(&team, "): the line ends elsewhere");
	finish(WRONG, team.bytes, "");
}

// same_part consumes what two tokens have in common, as far as it is buffered.
static void same_part(struct pair *p, const struct rules *r)
{
	const unsigned char *from = output.at;
	size_t have = stream_fill(&output), want = stream_fill(&answer), most = have < want ? have : want, n = 0;
	while (n < most && !is_space(from[n]) && from[n] == answer.at[n])
		n++;
	output.at += n;
	answer.at += n;
	if (r->numbers)
		number_span(&p->number, from, n);
	excerpt_add(&p->output, from, n);
	excerpt_add(&p->answer, from, n);
	p->inside |= n > 0;
}

// compare_token consumes a token of both texts.
static enum difference compare_token(struct pair *p, const struct rules *r)
{
	pair_reset(p);
	for (;;) {
		same_part(p, r);
		int got = stream_peek(&output), due = stream_peek(&answer);
		if (ends_token(got) && ends_token(due))
			return SAME;
		if (got == due)
			continue; // only a buffer ended
		if (r->ignore_case && lower(got) == lower(due)) {
			pair_fold(p, r, &output, &answer);
			continue;
		}
		return pair_differs(p, r, &output, &answer);
	}
}

// seen says that the texts had a token so far.
static int seen;

// same_rows consumes what is the same in both texts byte by byte, and ends in front
// of a token. It reports whether a line ended in front of that.
static int same_rows(int ended)
{
	for (;;) {
		size_t have = stream_fill(&output), want = stream_fill(&answer), most = have < want ? have : want;
		size_t n = same_bytes(output.at, answer.at, most);
		// A token that may go on is left for compare_token.
		while (n > 0 && !is_space(output.at[n - 1]))
			n--;
		if (n == 0)
			return ended;
		size_t blank = n; // where the white space at the end begins
		while (blank > 0 && is_space(output.at[blank - 1]))
			blank--;
		if (blank > 0) {
			ended = 0;
			seen = 1;
		}
		for (size_t i = blank; i < n; i++)
			ended |= ends_line(output.at[i]);
		output.at += n;
		answer.at += n;
	}
}

int main(int argc, char **argv)
{
	if (argc < FLAGS)
		finish(FAILED, "", "usage: rows input output answer [--ignore-case] [--eps=E] [--absolute=E] [--relative=E]");
	struct rules rules = {.absolute = -1, .relative = -1};
	for (int i = FLAGS; i < argc; i++) {
		const char *value;
		if ((value = flag_value(argv[i], "--eps")))
			rules.absolute = rules.relative = tolerance(argv[i], value);
		else if ((value = flag_value(argv[i], "--absolute")))
			rules.absolute = tolerance(argv[i], value);
		else if ((value = flag_value(argv[i], "--relative")))
			rules.relative = tolerance(argv[i], value);
		else if (!flag_switch(argv[i], "--ignore-case", &rules.ignore_case))
			flag_refused(argv[i]);
	}
	rules.numbers = rules.absolute >= 0 || rules.relative >= 0;
	stream_open(&output, argv[OUTPUT]);
	stream_open(&answer, argv[ANSWER]);

	struct pair pair;
	pair_reset(&pair);
	for (;;) {
		int common = same_rows(0);
		int got_row = skip_blank(&output) | common, due_row = skip_blank(&answer) | common;
		int got = stream_peek(&output), due = stream_peek(&answer);
		uint64_t at = stream_offset(&output);
		if (got == END && due == END)
			return ACCEPTED;
		if (got == END || due == END)
			reject(got == END ? TOO_SHORT : TOO_LONG, at, &pair);
		if (seen && got_row != due_row)
			reject_rows(at);
		seen = 1;
		enum difference d = compare_token(&pair, &rules);
		if (d != SAME)
			reject(d, at, &pair);
	}
}
