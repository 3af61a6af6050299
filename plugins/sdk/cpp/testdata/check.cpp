// Checks that the output holds the numbers of the answer, in any order.
#include <bits/stdc++.h>

#include "testlib.h"

using namespace std;

int main(int argc, char **argv)
{
	setName("the same numbers");
	registerTestlibCmd(argc, argv);
	int n = inf.readInt(0, 1000, "n");
	map<long long, int> count;
	for (int i = 0; i < n; i++)
		count[ans.readLong()]++;
	for (int i = 0; i < n; i++)
		if (count[ouf.readLong()]-- == 0)
			quitf(_wa, "number %d is not among them", i + 1);
	if (n == 13)
		throw runtime_error("unlucky"); // what cannot be caught
	quitf(_ok, "%d numbers", n);
}
