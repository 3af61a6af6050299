// @EXPECTED_RESULTS@: MEMORY-LIMIT
// Keeps the rules in a table of all pairs of jobs.
#include <cstdio>
#include <vector>

int main()
{
	int n, m;
	if (std::scanf("%d %d", &n, &m) != 2)
		return 1;
	std::vector<std::vector<char>> rule(n + 1, std::vector<char>(n + 1));
	std::vector<int> waits(n + 1), order;
	while (m--) {
		int a, b;
		if (std::scanf("%d %d", &a, &b) != 2)
			return 1;
		if (!rule[a][b])
			waits[b]++;
		rule[a][b] = 1;
	}
	for (int job = 1; job <= n; job++)
		if (!waits[job])
			order.push_back(job);
	for (size_t i = 0; i < order.size(); i++)
		for (int job = 1; job <= n; job++)
			if (rule[order[i]][job] && !--waits[job])
				order.push_back(job);
	if ((int)order.size() < n)
		order.clear();
	for (int job : order)
		std::printf("%d\n", job);
	if (order.empty())
		std::puts("impossible");
}
