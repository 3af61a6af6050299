#include <cstdio>

static const long long P = 1000000007;

// worth reads a box whose opening parenthesis was read.
static long long worth()
{
	long long total = 1, place = 0;
	while (std::getchar() == '(')
		total = (total + ++place * worth()) % P;
	return total;
}

int main()
{
	std::getchar();
	std::printf("%lld\n", worth());
}
