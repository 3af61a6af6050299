// Prints a workshop: rules KIND JOBS [RULES SEED]. The same arguments give the same
// text everywhere, because it depends on nothing else.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

// Random gives the numbers of SplitMix64, begun with the FNV-1a hash of a text.
struct Random {
	uint64_t state = 14695981039346656037u;
	explicit Random(const std::string &seed)
	{
		for (unsigned char c : seed)
			state = (state ^ c) * 1099511628211u;
	}
	uint64_t below(uint64_t n)
	{
		uint64_t z = state += 0x9e3779b97f4a7c15;
		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
		z = (z ^ z >> 27) * 0x94d049bb133111eb;
		return (z ^ z >> 31) % n;
	}
};

using Rules = std::vector<std::pair<int, int>>;

// keepable makes rules that can be kept together.
Rules keepable(int jobs, size_t rules, const char *seed)
{
	Random random(seed);
	std::vector<int> order(jobs);
	for (int i = 0; i < jobs; i++)
		order[i] = i + 1;
	for (int i = jobs - 1; i > 0; i--)
		std::swap(order[i], order[random.below(i + 1)]);
	Rules all;
	while (all.size() < rules) {
		int a = random.below(jobs), b = random.below(jobs);
		if (a < b)
			all.push_back({order[a], order[b]});
	}
	return all;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return fprintf(stderr, "usage: rules KIND JOBS [RULES SEED]\n"), 1;
	std::string kind = argv[1];
	int jobs = atoi(argv[2]);
	Rules all;
	if (kind == "chain" || kind == "circle" || kind == "backwards")
		for (int job = 1; job < jobs; job++)
			all.push_back(kind == "backwards" ? std::pair(jobs + 1 - job, jobs - job) : std::pair(job, job + 1));
	if (kind == "circle")
		all.push_back({jobs, 1});
	if (kind == "star") // one job waits for half of the others, and lets the rest wait
		for (int job = 1, middle = jobs / 2; job <= jobs; job++)
			if (job != middle)
				all.push_back(job < middle ? std::pair(middle, job) : std::pair(job, middle));
	if (kind == "random" && argc == 5)
		all = keepable(jobs, atoi(argv[3]), argv[4]);
	if (kind == "random-circle" && argc == 5) {
		all = keepable(jobs, atoi(argv[3]), argv[4]);
		all.push_back({all[7].second, all[7].first});
	}
	if (all.empty())
		return fprintf(stderr, "rules: these arguments mean nothing\n"), 1;
	printf("%d %zu\n", jobs, all.size());
	for (auto [a, b] : all)
		printf("%d %d\n", a, b);
}
