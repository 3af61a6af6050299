// Prints as many numbers as it is asked for.
#include "testlib.h"
#include <iostream>

using namespace std;

int main(int argc, char *argv[])
{
	registerGen(argc, argv, 1);
	int n = opt<int>("n");
	cout << n << endl;
	for (int i = 0; i < n; i++)
		cout << rnd.next(1, 1000000000) << " \n"[i + 1 == n];
}
