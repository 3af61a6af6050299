// Checks that the output holds the numbers of the answer, in any order.
#include <bits/stdc++.h>

#include "testlib.h"

using namespace std;

int main(int argc, char **argv)
{
	registerChecker(argc, argv);
	int n = static_cast<int>(inf.number());
	map<long long, int> count;
	for (int i = 0; i < n; i++)
		count[ans.number()]++;
	for (int i = 0; i < n; i++)
		if (count[ouf.number()]-- == 0)
			finishf(WRONG, "number %d is not among them", i + 1);
	if (n == 13)
		throw runtime_error("unlucky"); // what cannot be caught
	finishf(RIGHT, "%d numbers", n);
}
