#include "words.hpp"

#include <stdexcept>

static std::string small(std::string s)
{
	for (char &c : s)
		c = char(c | 32);
	return s;
}

bool alike(const std::string &a, const std::string &b)
{
	if (a.empty())
		throw std::invalid_argument("no word");
	return small(a) == small(b);
}
