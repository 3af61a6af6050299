// An adapter that answers with what the build puts into PLAN, HELLO_PLAN,
// REPLY and MANIFEST. HELLO_PLAN is for a program named hello.x.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	if (argc != 2)
		return 1;
	if (!strcmp(argv[1], "describe")) {
		puts(MANIFEST);
		return 0;
	}
	if (!strcmp(argv[1], "diagnostics")) {
#ifdef REPLY
		puts(REPLY);
		return 0;
#else
		return 1;
#endif
	}
	if (strcmp(argv[1], "plan"))
		return 1;
	size_t room = 8 << 20, n = 0;
	char *q = malloc(room);
	for (size_t k; (k = fread(q + n, 1, room - 1 - n, stdin)) > 0;)
		n += k;
	q[n] = 0;
#ifdef BAD_TRAP
	if (strstr(q, "({[({["))
		__builtin_trap();
#endif
#ifdef BAD_EXIT
	if (strstr(q, "({[({["))
		return 5;
#endif
#ifdef BAD_MEMORY
	if (strstr(q, "({[({[")) {
		for (volatile char *p; (p = malloc(1 << 20));)
			*p = 1;
		__builtin_trap();
	}
#endif
#ifdef BAD_NAMES
	if (strstr(q, "\"../../etc/passwd\"")) {
		puts("{\"judge\":1,\"files\":[{\"path\":\"../../etc/passwd\",\"source\":0}],\"run\":{\"tool\":\"python3\"}}");
		return 0;
	}
#endif
#ifdef BAD_PLAN
	if (strstr(q, "\"hello.x\"")) {
		fputs("no idea\n", stderr);
		return 1;
	}
#endif
#ifdef HELLO_PLAN
	if (strstr(q, "\"hello.x\"")) {
		puts(HELLO_PLAN);
		return 0;
	}
#endif
	puts(PLAN);
	return 0;
}
