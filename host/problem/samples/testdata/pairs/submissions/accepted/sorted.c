/* Sorts the rests and meets from both ends. */
#include <stdio.h>
#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	return (x > y) - (x < y);
}

int main(void)
{
	int n, k;
	if (scanf("%d %d", &n, &k) != 2)
		return 1;
	int *rests = malloc((size_t)n * sizeof *rests);
	for (int i = 0; i < n; i++) {
		if (scanf("%d", &rests[i]) != 1)
			return 1;
		rests[i] %= k;
	}
	qsort(rests, (size_t)n, sizeof *rests, by_number);
	long long pairs = 0;
	int low = 0, high = n - 1;
	while (low < n && rests[low] == 0)
		low++;
	pairs += (long long)low * (low - 1) / 2;
	while (low < high) {
		long long sum = (long long)rests[low] + rests[high];
		if (sum < k) {
			low++;
		} else if (sum > k) {
			high--;
		} else if (rests[low] == rests[high]) {
			long long equal = high - low + 1;
			pairs += equal * (equal - 1) / 2;
			break;
		} else {
			long long left = 1, right = 1;
			while (rests[low + left] == rests[low])
				left++;
			while (rests[high - right] == rests[high])
				right++;
			pairs += left * right;
			low += (int)left;
			high -= (int)right;
		}
	}
	printf("%lld\n", pairs);
	return 0;
}
