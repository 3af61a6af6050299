#include <cstdio>
#include <vector>

int main()
{
	int n;
	if (std::scanf("%d", &n) != 1)
		return 1;
	std::vector<int> notes(n);
	for (int &x : notes)
		if (std::scanf("%d", &x) != 1)
			return 1;
	int best = 0, most = 0;
	for (int x : notes) {
		int count = 0;
		for (int y : notes)
			count += x == y;
		if (count > most || (count == most && x < best)) {
			most = count;
			best = x;
		}
	}
	std::printf("%d %d\n", best, most);
}
