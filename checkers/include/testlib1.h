// The dialect testlib/1: argv is input, output, answer, flags; the exit code is
// the verdict and standard error the message, which the team may read.
#ifndef DEEPOJ_TESTLIB1_H
#define DEEPOJ_TESTLIB1_H

#include <string.h>
#include <unistd.h>

#include "outcome.h"

enum { INPUT = 1, OUTPUT, ANSWER, FLAGS };

_Noreturn static void finish(enum outcome outcome, const char *team, const char *staff)
{
	static const int codes[] = {[ACCEPTED] = 0, [WRONG] = 1, [PRESENTATION] = 2, [FAILED] = 3};
	const char *message = outcome == FAILED ? staff : team;
	if (*message && (write(STDERR_FILENO, message, strlen(message)) < 0 || write(STDERR_FILENO, "\n", 1) < 0))
		_exit(codes[FAILED]);
	_exit(codes[outcome]);
}

#endif
