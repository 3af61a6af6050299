// A checker in two sources, of which one includes testlib.h.
#include "../testlib.h"
#include "words.hpp"

int main(int argc, char *argv[])
{
	registerTestlibCmd(argc, argv);
	std::string want = ans.readToken(), have = ouf.readToken();
	if (!alike(want, have))
		quitf(_wa, "expected another word than '%s'", have.c_str());
	quitf(_ok, "the word");
}
