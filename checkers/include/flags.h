// What follows the files on a checker's command line.
#ifndef DEEPOJ_FLAGS_H
#define DEEPOJ_FLAGS_H

#include <string.h>

#include "number.h"
#include "outcome.h"
#include "text.h"

_Noreturn static inline void flag_refused(const char *flag)
{
	struct text t = {0};
	text_string(&t, "the checker does not understand the flag ");
	text_string(&t, flag);
	finish(FAILED, "", t.bytes);
}

// flag_value returns what follows "name=", or NULL for another flag.
static inline const char *flag_value(const char *flag, const char *name)
{
	size_t length = strlen(name);
	return strncmp(flag, name, length) == 0 && flag[length] == '=' ? flag + length + 1 : NULL;
}

// flag_switch reads "name", "name=true" or "name=false" into *on. It reports
// whether the flag was this one.
static inline int flag_switch(const char *flag, const char *name, int *on)
{
	const char *value = flag_value(flag, name);
	if (value ? strcmp(value, "true") == 0 : strcmp(flag, name) == 0)
		*on = 1;
	else if (value && strcmp(value, "false") == 0)
		*on = 0;
	else
		return 0;
	return 1;
}

// tolerance reads a number that is not negative.
static inline double tolerance(const char *flag, const char *value)
{
	struct number n = {0};
	for (const char *c = value; *c; c++)
		number_feed(&n, (unsigned char)*c);
	if (!number_valid(&n) || n.negative)
		flag_refused(flag);
	return scaled((double)n.digits, number_power(&n));
}

#endif
