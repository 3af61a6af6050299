// An interactor in both dialects: the program guesses the number in the input
// and is told "less", "more" or "right".
//   validator input answer feedback/ [flags]
//   interactor input tout answer [flags]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char flood[1 << 16];

int main(int argc, char **argv)
{
	int icpc = !strcmp(argv[0], "validator"), right = icpc ? 42 : 0, wrong = icpc ? 43 : 1;
	long secret, guess, n = 0;
	if (argc < 4 || fscanf(fopen(argv[1], "r"), "%ld", &secret) != 1)
		return 3;
	for (int i = 4; i < argc; i++) {
		if (!strcmp(argv[i], "trap"))
			__builtin_trap();
		if (!strcmp(argv[i], "spin"))
			for (volatile int x = 0;; x++) {}
		if (!strcmp(argv[i], "silent")) // leaves the program waiting
			return wrong;
		if (!strcmp(argv[i], "flood"))
			for (;;)
				write(1, flood, sizeof flood);
	}
	while (n++ < 100 && scanf("%ld", &guess) == 1) {
		puts(guess == secret ? "right" : guess < secret ? "more" : "less");
		fflush(stdout);
		if (guess != secret)
			continue;
		if (!icpc) {
			FILE *tout = fopen(argv[2], "w");
			fprintf(tout, "%ld\n", n);
			fclose(tout);
			fprintf(stderr, "%ld guesses", n);
		}
		return right;
	}
	fprintf(stderr, "gave up after %ld", n - 1);
	return wrong;
}
