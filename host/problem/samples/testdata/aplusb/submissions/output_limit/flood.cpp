// @EXPECTED_RESULTS@: OUTPUT-LIMIT
#include <cstdio>

int main()
{
	for (;;)
		std::puts("and so on and so on and so on and so on and so on and so on");
}
