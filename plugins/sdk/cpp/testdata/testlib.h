// A small stand-in for testlib.h, for the tests of the wrapper. It is not
// testlib.h, but it uses C++ in the same ways: numbers converted under try, an
// exit code with a message from every depth, its own reading of files, global
// objects with constructors, templates and streams.
#ifndef STAND_IN_TESTLIB_H
#define STAND_IN_TESTLIB_H

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

enum Result { RIGHT = 0, WRONG = 1, FORM = 2, FAULT = 3 };

[[noreturn]] inline void finishf(Result result, const char *format, ...)
{
	char text[1024];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	std::fprintf(stderr, "%s\n", text);
	std::exit(result);
}

template <class T> std::string words(const T &value)
{
	std::ostringstream s;
	s << value;
	return s.str();
}

struct Reader {
	std::FILE *file = nullptr;
	Result blame = FAULT;

	void open(const char *path, Result whose)
	{
		file = std::fopen(path, "rb");
		blame = whose;
		if (!file)
			finishf(FAULT, "cannot open %s", path);
	}

	std::string token()
	{
		int c = std::getc(file);
		while (c == ' ' || c == '\n' || c == '\r' || c == '\t')
			c = std::getc(file);
		std::string t;
		for (; c != EOF && c != ' ' && c != '\n' && c != '\r' && c != '\t'; c = std::getc(file))
			t += static_cast<char>(c);
		if (t.empty())
			finishf(blame, "unexpected end of file");
		return t;
	}

	long long number()
	{
		std::string t = token();
		long long n;
		try {
			n = std::stoll(t);
		} catch (const std::exception &) {
			finishf(blame == FAULT ? FAULT : FORM, "expected a number, read %s", t.c_str());
		}
		if (words(n) != t)
			finishf(blame == FAULT ? FAULT : FORM, "expected a number, read %s", t.c_str());
		return n;
	}
};

static Reader inf, ouf, ans;

inline void registerChecker(int argc, char **argv)
{
	if (argc < 4)
		finishf(FAULT, "usage: checker input output answer");
	inf.open(argv[1], FAULT);
	ouf.open(argv[2], WRONG);
	ans.open(argv[3], FAULT);
}

#endif
