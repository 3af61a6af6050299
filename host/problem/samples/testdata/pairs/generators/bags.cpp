// Prints bags: bags CHILDREN HOW-MANY LOWEST HIGHEST SEED. The same arguments give the same
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
	if (argc != 6)
		return fprintf(stderr, "usage: bags CHILDREN HOW-MANY LOWEST HIGHEST SEED\n"), 1;
	int k = atoi(argv[1]), n = atoi(argv[2]), low = atoi(argv[3]), high = atoi(argv[4]);
	Random random(argv[5]);
	printf("%d %d\n", n, k);
	for (int i = 0; i < n; i++)
		printf("%d%c", low + (int)random.below(high - low + 1), i + 1 < n ? ' ' : '\n');
}
