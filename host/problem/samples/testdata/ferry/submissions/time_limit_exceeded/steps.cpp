// Moves the ferry in steps of a millionth of a second.
#include <cmath>
#include <cstdio>

int main()
{
	int n;
	std::scanf("%d", &n);
	while (n--) {
		double w, v, c;
		std::scanf("%lf %lf %lf", &w, &v, &c);
		if (v <= c) {
			std::puts("impossible");
			continue;
		}
		const double step = 1e-6, speed = std::sqrt((v - c) * (v + c));
		long long steps = 0;
		for (volatile double at = 0; at < w; at = at + speed * step)
			steps++;
		std::printf("%.9f\n", steps * step);
	}
}
