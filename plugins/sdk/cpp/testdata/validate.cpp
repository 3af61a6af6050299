// Says whether an input is n, and n numbers on a line.
#include "testlib.h"

int main(int argc, char *argv[])
{
	registerValidation(argc, argv);
	int n = inf.readInt(1, 5, "n");
	inf.readEoln();
	for (int i = 0; i < n; i++) {
		if (i > 0)
			inf.readSpace();
		ensuref(inf.readUnsignedLong() > 0, "number %d is 0", i + 1);
	}
	inf.readEoln();
	inf.readEof();
}
