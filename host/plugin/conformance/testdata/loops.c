// A checker that never ends.
int main(void)
{
	volatile long n = 0;
	for (;;)
		n++;
}
