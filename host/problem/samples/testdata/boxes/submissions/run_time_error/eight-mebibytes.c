/* Recurses on a stack of 8 MiB, as programs elsewhere have to. */
#include <pthread.h>
#include <stdio.h>

static const long long P = 1000000007;

static long long worth(void)
{
	long long total = 1, place = 0;
	while (getchar() == '(')
		total = (total + ++place * worth()) % P;
	return total;
}

static void *run(void *unused)
{
	getchar();
	printf("%lld\n", worth());
	return unused;
}

int main(void)
{
	pthread_attr_t small;
	pthread_t thread;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 8 << 20);
	if (pthread_create(&thread, &small, run, NULL))
		return 1;
	pthread_join(thread, NULL);
	return 0;
}
