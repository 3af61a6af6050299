// Takes the remainder only at the end.
#include <cstdio>

static unsigned long long worth()
{
	unsigned long long total = 1, place = 0;
	while (std::getchar() == '(')
		total += ++place * worth();
	return total;
}

int main()
{
	std::getchar();
	std::printf("%llu\n", worth() % 1000000007);
}
