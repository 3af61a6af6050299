#include <stdio.h>

static const long long P = 1000000007;

/* worth reads a box whose opening parenthesis was read. */
static long long worth(void)
{
	long long total = 1, place = 0;
	while (getchar_unlocked() == '(')
		total = (total + ++place * worth()) % P;
	return total;
}

int main(void)
{
	getchar_unlocked();
	printf("%lld\n", worth());
	return 0;
}
