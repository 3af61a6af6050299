#include <algorithm>
#include <iostream>
#include <vector>

int main()
{
	std::ios::sync_with_stdio(false);
	std::cin.tie(nullptr);
	int n;
	std::cin >> n;
	std::vector<int> notes(n);
	for (int &x : notes)
		std::cin >> x;
	std::sort(notes.begin(), notes.end());
	int best = 0, most = 0;
	for (auto at = notes.begin(); at != notes.end();) {
		auto end = std::upper_bound(at, notes.end(), *at);
		if (end - at > most) {
			most = int(end - at);
			best = *at;
		}
		at = end;
	}
	std::cout << best << ' ' << most << '\n';
}
