// Prints notes: notes HOW-MANY LOWEST HIGHEST SEED. The same arguments give the same
// text everywhere, because it depends on nothing else.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

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

int main(int argc, char **argv)
{
	if (argc != 5)
		return fprintf(stderr, "usage: notes HOW-MANY LOWEST HIGHEST SEED\n"), 1;
	int n = atoi(argv[1]), low = atoi(argv[2]), high = atoi(argv[3]);
	Random random(argv[4]);
	printf("%d\n", n);
	for (int i = 0; i < n; i++)
		printf("%d%c", low + (int)random.below(high - low + 1), i + 1 < n ? ' ' : '\n');
}
