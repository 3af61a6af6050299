// @EXPECTED_RESULTS@: MEMORY-LIMIT
// Counts in a table of a billion lockers, made of blocks of a million.
#include <cstdio>
#include <vector>

int main()
{
	int n, x;
	if (std::scanf("%d", &n) != 1)
		return 1;
	const int block = 1000000;
	std::vector<std::vector<int>> counts(1001, std::vector<int>(block));
	int best = 0, most = 0;
	while (n-- && std::scanf("%d", &x) == 1) {
		int count = ++counts[x / block][x % block];
		if (count > most || (count == most && x < best)) {
			most = count;
			best = x;
		}
	}
	std::printf("%d %d\n", best, most);
}
