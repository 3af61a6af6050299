#include <stdio.h>
#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	return (x > y) - (x < y);
}

int main(void)
{
	int n;
	if (scanf("%d", &n) != 1)
		return 1;
	int *notes = malloc((size_t)n * sizeof *notes);
	for (int i = 0; i < n; i++)
		if (scanf("%d", &notes[i]) != 1)
			return 1;
	qsort(notes, (size_t)n, sizeof *notes, by_number);
	int best = 0, most = 0;
	for (int i = 0, first = 0; i < n; i++) {
		if (notes[i] != notes[first])
			first = i;
		if (i - first + 1 > most) {
			most = i - first + 1;
			best = notes[i];
		}
	}
	printf("%d %d\n", best, most);
	return 0;
}
