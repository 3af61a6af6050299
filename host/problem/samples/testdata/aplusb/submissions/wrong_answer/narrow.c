/* Keeps 32 bits of the sum. */
#include <stdint.h>
#include <stdio.h>

int main(void)
{
	long long a, b;
	if (scanf("%lld %lld", &a, &b) != 2)
		return 1;
	printf("%d\n", (int)(int32_t)(uint32_t)((uint64_t)a + (uint64_t)b));
	return 0;
}
