// An interactor in testlib/1, or with -DICPC in icpc/1: the program guesses the
// number in the input and is told "less", "more" or "right". Each macro BAD_…
// makes it break one rule of the contract.
#include <stdio.h>

#ifdef ICPC
enum { RIGHT = 42, WRONG = 43, FAULT = 1 };
#else
enum { RIGHT = 0, WRONG = 1, FAULT = 3 };
#endif

int main(int argc, char **argv)
{
	long secret, guess;
	FILE *input = argc < 4 ? NULL : fopen(argv[1], "r");
	if (!input || fscanf(input, "%ld", &secret) != 1)
		return FAULT;
	for (int n = 0; n < 20; n++) {
		if (scanf("%ld", &guess) != 1)
#ifdef BAD_PARTNER
			return FAULT;
#else
			return WRONG;
#endif
#ifdef BAD_GENEROUS
		if (n == 3)
			return RIGHT;
#endif
		puts(guess == secret ? "right" : guess < secret ? "more" : "less");
		fflush(stdout);
#ifdef BAD_STRICT
		if (n == 3)
			return WRONG;
#endif
		if (guess == secret)
			return RIGHT;
	}
	return WRONG;
}
