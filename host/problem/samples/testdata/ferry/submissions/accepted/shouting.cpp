// The case of letters does not matter, nor does white space.
#include <cmath>
#include <cstdio>

int main()
{
	int n;
	std::scanf("%d", &n);
	while (n--) {
		double w, v, c;
		std::scanf("%lf %lf %lf", &w, &v, &c);
		if (v <= c)
			std::printf("  IMPOSSIBLE ");
		else
			std::printf("%.12e\t", w / std::sqrt((v - c) * (v + c)));
	}
}
