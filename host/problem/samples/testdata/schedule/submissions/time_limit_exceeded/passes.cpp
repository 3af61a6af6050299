// Looks through all jobs for one that is ready, again and again.
#include <cstdio>
#include <vector>

int main()
{
	int n, m;
	if (std::scanf("%d %d", &n, &m) != 2)
		return 1;
	std::vector<std::vector<int>> needs(n + 1);
	while (m--) {
		int a, b;
		if (std::scanf("%d %d", &a, &b) != 2)
			return 1;
		needs[b].push_back(a);
	}
	std::vector<char> done(n + 1);
	std::vector<int> order;
	for (bool found = true; found;) {
		found = false;
		for (int job = 1; job <= n; job++) {
			bool ready = !done[job];
			for (int need : needs[job])
				ready = ready && done[need];
			if (ready) {
				done[job] = found = true;
				order.push_back(job);
				break;
			}
		}
	}
	if ((int)order.size() < n) {
		std::puts("impossible");
		return 0;
	}
	for (int job : order)
		std::printf("%d\n", job);
}
