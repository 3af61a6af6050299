// A checker that never ends, and whose steps take long for the little fuel that they
// cost: each waits for the one before.
int main(void)
{
	volatile double x = 3;
	for (;;)
		x = __builtin_sqrt(__builtin_sqrt(x / 1.1) / __builtin_sqrt(x / 1.3)) + 1e9;
}
