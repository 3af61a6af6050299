// Has the program guess a number, and tells the checker how often it guessed.
#include "testlib.h"
#include <iostream>

int main(int argc, char *argv[])
{
	registerInteraction(argc, argv);
	int secret = inf.readInt();
	for (int tries = 1; tries <= 10; tries++) {
		int guess = ouf.readInt(1, 100, "guess");
		std::cout << (guess < secret ? "higher" : guess > secret ? "lower" : "right") << std::endl;
		if (guess == secret) {
			tout << tries << std::endl;
			quitf(_ok, "%d tries", tries);
		}
	}
	quitf(_wa, "more than 10 tries");
}
