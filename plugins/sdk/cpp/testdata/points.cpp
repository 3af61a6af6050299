// Gives the points that the output names, or text for a scorer.
#include "testlib.h"

int main(int argc, char *argv[])
{
	registerTestlibCmd(argc, argv);
	std::string word = ouf.readToken();
	if (word == "info")
		quitpi("pa=1,ja=2", "half of it");
	if (word == "bare")
		quitpi("pa=1");
	if (word == "part")
		quitf(_pc(20), "a part");
	quitp(std::atof(word.c_str()), "of what there is");
}
