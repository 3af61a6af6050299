/* Has room for a thousand jobs. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	static int waits[1001];
	int n, m;
	if (scanf("%d %d", &n, &m) != 2)
		return 1;
	if (n > 1000)
		abort();
	int (*rules)[2] = calloc((size_t)m + 1, sizeof *rules);
	for (int i = 0; i < m; i++) {
		if (scanf("%d %d", &rules[i][0], &rules[i][1]) != 2)
			return 1;
		waits[rules[i][1]]++;
	}
	int order[1001], filled = 0;
	for (int job = 1; job <= n; job++)
		if (!waits[job])
			order[filled++] = job;
	for (int i = 0; i < filled; i++)
		for (int r = 0; r < m; r++)
			if (rules[r][0] == order[i] && !--waits[rules[r][1]])
				order[filled++] = rules[r][1];
	if (filled < n) {
		puts("impossible");
		return 0;
	}
	for (int i = 0; i < n; i++)
		printf("%d\n", order[i]);
	return 0;
}
