// Looks for the end of each box from its beginning.
#include <iostream>
#include <string>

static const long long P = 1000000007;
static std::string text;

static long long worth(size_t from, size_t to)
{
	long long total = 1, place = 0;
	for (size_t at = from + 1; at < to - 1;) {
		size_t end = at;
		int depth = 0;
		do
			depth += text[end] == '(' ? 1 : -1;
		while (end++, depth > 0);
		total = (total + ++place * worth(at, end)) % P;
		at = end;
	}
	return total;
}

int main()
{
	std::cin >> text;
	std::cout << worth(0, text.size()) << '\n';
}
