// The dialect icpc/1: argv is input, answer, feedback folder, flags; the output
// is on standard input, the exit code is 42 or 43, and messages go to files.
#ifndef DEEPOJ_ICPC1_H
#define DEEPOJ_ICPC1_H

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "outcome.h"
#include "text.h"

enum { INPUT = 1, ANSWER, FEEDBACK, FLAGS };

static const char *feedback_folder; // set by the checker before it can decide

static inline int feedback_write(const char *name, const char *message)
{
	struct text path = {0};
	text_string(&path, feedback_folder);
	if (path.length > 0 && path.bytes[path.length - 1] != '/')
		text_byte(&path, '/');
	text_string(&path, name);
	int fd = open(path.bytes, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	size_t length = strlen(message);
	return fd >= 0 && write(fd, message, length) == (ssize_t)length && write(fd, "\n", 1) == 1 && close(fd) == 0;
}

_Noreturn static void finish(enum outcome outcome, const char *team, const char *staff)
{
	if (outcome != FAILED && feedback_folder) {
		if ((!*team || feedback_write("teammessage.txt", team)) && (!*staff || feedback_write("judgemessage.txt", staff)))
			_exit(outcome == ACCEPTED ? 42 : 43);
		staff = "the checker cannot write into its feedback folder";
	}
	if (write(STDERR_FILENO, staff, strlen(staff)) >= 0)
		write(STDERR_FILENO, "\n", 1);
	_exit(1); // neither 42 nor 43: the judge's fault
}

#endif
