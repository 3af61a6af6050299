/* Counts in a table that ends at a million. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	static int counts[1000001];
	int n, x, best = 0;
	if (scanf("%d", &n) != 1)
		return 1;
	while (n--) {
		if (scanf("%d", &x) != 1)
			return 1;
		if (x > 1000000)
			abort();
		counts[x]++;
	}
	for (int i = 1; i <= 1000000; i++)
		if (counts[i] > counts[best])
			best = i;
	printf("%d %d\n", best, counts[best]);
	return 0;
}
