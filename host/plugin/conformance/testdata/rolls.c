// A checker that never ends, and leaves all the work to its host.
#include <wasi/api.h>

static uint8_t dice[16 << 20];

int main(void)
{
	for (;;)
		if (__wasi_random_get(dice, sizeof dice))
			__builtin_trap();
}
