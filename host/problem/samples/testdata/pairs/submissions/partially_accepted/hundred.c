/* Has room for a hundred bags. */
/* @EXPECTED_SCORE@: 20 */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	int n, k, pairs = 0, sweets[100];
	if (scanf("%d %d", &n, &k) != 2)
		return 1;
	if (n > 100)
		abort();
	for (int i = 0; i < n; i++) {
		if (scanf("%d", &sweets[i]) != 1)
			return 1;
		for (int j = 0; j < i; j++)
			pairs += (sweets[i] + sweets[j]) % k == 0;
	}
	printf("%d\n", pairs);
	return 0;
}
