// Tries all pairs: too slow for the last group.
// @EXPECTED_SCORE@: 50
#include <cstdio>
#include <vector>

int main()
{
	int n, k;
	if (std::scanf("%d %d", &n, &k) != 2)
		return 1;
	std::vector<int> sweets(n);
	for (int &x : sweets)
		if (std::scanf("%d", &x) != 1)
			return 1;
	long long pairs = 0;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++)
			pairs += (sweets[i] + sweets[j]) % k == 0;
	std::printf("%lld\n", pairs);
}
