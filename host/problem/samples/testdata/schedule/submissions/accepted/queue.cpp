// Takes a job whenever nothing keeps it waiting.
#include <cstdio>
#include <queue>
#include <vector>

int main()
{
	int n, m;
	if (std::scanf("%d %d", &n, &m) != 2)
		return 1;
	std::vector<std::vector<int>> next(n + 1);
	std::vector<int> waits(n + 1);
	while (m--) {
		int a, b;
		if (std::scanf("%d %d", &a, &b) != 2)
			return 1;
		next[a].push_back(b);
		waits[b]++;
	}
	std::queue<int> ready;
	for (int job = 1; job <= n; job++)
		if (!waits[job])
			ready.push(job);
	std::vector<int> order;
	while (!ready.empty()) {
		int job = ready.front();
		ready.pop();
		order.push_back(job);
		for (int later : next[job])
			if (!--waits[later])
				ready.push(later);
	}
	if ((int)order.size() < n) {
		std::puts("impossible");
		return 0;
	}
	for (int job : order)
		std::printf("%d\n", job);
}
