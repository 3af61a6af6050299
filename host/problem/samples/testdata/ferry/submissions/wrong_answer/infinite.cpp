// Prints inf and nan where there is no answer.
#include <cmath>
#include <cstdio>

int main()
{
	int n;
	std::scanf("%d", &n);
	while (n--) {
		double w, v, c;
		std::scanf("%lf %lf %lf", &w, &v, &c);
		std::printf("%.9f\n", w / std::sqrt(v * v - c * c));
	}
}
