int main()
{
	for (volatile unsigned i = 0;; i++) {
	}
}
