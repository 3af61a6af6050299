#include <cstdio>
#include <unordered_map>

int main()
{
	int n, k;
	if (std::scanf("%d %d", &n, &k) != 2)
		return 1;
	std::unordered_map<int, int> seen;
	seen.reserve(n);
	long long pairs = 0;
	for (int i = 0, x; i < n && std::scanf("%d", &x) == 1; i++) {
		auto partner = seen.find((k - x % k) % k);
		if (partner != seen.end())
			pairs += partner->second;
		seen[x % k]++;
	}
	std::printf("%lld\n", pairs);
}
