// exact accepts an output that is the answer, byte for byte.
#include "testlib1.h"

#include "flags.h"
#include "layout.h"
#include "manifest.h"

static struct stream output, answer;

int main(int argc, char **argv)
{
	if (argc < FLAGS)
		finish(FAILED, "", "usage: exact input output answer");
	if (argc > FLAGS)
		flag_refused(argv[FLAGS]);
	stream_open(&output, argv[OUTPUT]);
	stream_open(&answer, argv[ANSWER]);

	for (;;) {
		size_t have = stream_fill(&output), want = stream_fill(&answer);
		size_t most = have < want ? have : want;
		size_t length = same_bytes(output.at, answer.at, most);
		output.at += length;
		answer.at += length;
		if (length < most || have == 0 || want == 0)
			break;
	}
	if (stream_peek(&output) == END && stream_peek(&answer) == END)
		return ACCEPTED;
	finish_layout(&output, &answer, stream_offset(&output));
}
