// Takes the largest locker of those that share the first place.
#include <cstdio>
#include <map>

int main()
{
	int n;
	if (std::scanf("%d", &n) != 1)
		return 1;
	std::map<int, int> counts;
	for (int i = 0, x; i < n && std::scanf("%d", &x) == 1; i++)
		counts[x]++;
	int best = 0, most = 0;
	for (auto [locker, count] : counts)
		if (count >= most) {
			best = locker;
			most = count;
		}
	std::printf("%d %d\n", best, most);
}
