// @EXPECTED_RESULTS@: COMPILER-ERROR
int main()
{
	int sum = 0
	return sum;
}
