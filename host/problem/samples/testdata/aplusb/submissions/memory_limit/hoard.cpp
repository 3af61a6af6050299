// @EXPECTED_RESULTS@: MEMORY-LIMIT
#include <iostream>
#include <vector>

int main()
{
	std::vector<std::vector<char>> kept;
	for (;;) {
		kept.emplace_back(1 << 20, 'x');
		if (kept.back()[kept.size()] != 'x')
			std::cout << "never printed\n";
	}
}
