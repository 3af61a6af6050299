/* Uses no CPU time: only the clock can stop it. */
#include <unistd.h>

int main(void)
{
	for (;;)
		pause();
}
