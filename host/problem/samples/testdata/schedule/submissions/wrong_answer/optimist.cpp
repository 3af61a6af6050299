// Prints what it has when a circle stops it.
#include <cstdio>
#include <vector>

int main()
{
	int n, m;
	if (std::scanf("%d %d", &n, &m) != 2)
		return 1;
	std::vector<std::vector<int>> next(n + 1);
	std::vector<int> waits(n + 1), order;
	while (m--) {
		int a, b;
		if (std::scanf("%d %d", &a, &b) != 2)
			return 1;
		next[a].push_back(b);
		waits[b]++;
	}
	for (int job = 1; job <= n; job++)
		if (!waits[job])
			order.push_back(job);
	for (size_t i = 0; i < order.size(); i++)
		for (int later : next[order[i]])
			if (!--waits[later])
				order.push_back(later);
	for (int job : order)
		std::printf("%d ", job);
}
