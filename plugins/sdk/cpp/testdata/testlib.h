// A small stand-in for testlib.h, for the tests of the SDK. It is not testlib.h,
// and does less, but it has the properties by which that header breaks builds and
// runs, and its names: functions that are not inline, so that two sources that
// include it do not link; static state and static objects with constructors and
// destructors; numbers converted under try; endings by exit from every depth; files
// that it reads itself; one header for checkers, validators, generators, interactors
// and scorers.
#ifndef _TESTLIB_H_
#define _TESTLIB_H_

#include <climits>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#ifndef OK_EXIT_CODE
#define OK_EXIT_CODE 0
#endif
#ifndef WA_EXIT_CODE
#define WA_EXIT_CODE 1
#endif
#ifndef PE_EXIT_CODE
#define PE_EXIT_CODE 2
#endif
#ifndef PC_BASE_EXIT_CODE
#define PC_BASE_EXIT_CODE 0
#endif

#define NORETURN __attribute__((noreturn))
#define LIKE_PRINTF(at, rest) __attribute__((format(printf, at, rest)))

enum TResult { _ok = 0, _wa = 1, _pe = 2, _fail = 3, _dirt = 4, _points = 5, _unexpected_eof = 8, _partially = 16 };
enum TMode { _input, _output, _answer };
enum TTestlibMode { _unknown, _checker, _validator, _generator, _interactor, _scorer };

#define _pc(part) (TResult(_partially + (part)))

static TTestlibMode testlibMode = _unknown;
static std::string checkerName;
static std::map<std::string, std::string> __testlib_opts; // filled before main, as are streams
static int __testlib_quits = 0;
double __testlib_points = std::numeric_limits<float>::infinity();

std::string vtos(long long n) { return std::to_string(n); }

static std::string __testlib_text(const char *fmt, va_list arguments)
{
	char text[4096];
	vsnprintf(text, sizeof text, fmt, arguments);
	return text;
}

#define FORMAT_TO(text) \
	va_list arguments; \
	va_start(arguments, fmt); \
	std::string text = __testlib_text(fmt, arguments); \
	va_end(arguments)

struct InStream {
	std::FILE *file;
	TMode mode;
	bool strict;
	int line;
	std::string name;

	InStream() : file(NULL), mode(_input), strict(false), line(1) {}
	~InStream() { close(); }

	void init(const std::string &path, TMode whose);
	void init(std::FILE *from, TMode whose)
	{
		file = from, mode = whose;
		name = whose == _input ? "input" : whose == _output ? "output" : "answer";
	}
	void close()
	{
		if (file && file != stdin)
			std::fclose(file);
		file = NULL;
	}
	int peek()
	{
		int c = std::getc(file);
		return std::ungetc(c, file);
	}
	bool eof() { return peek() == EOF; }
	void skipBlanks()
	{
		for (int c = peek(); c == ' ' || c == '\n' || c == '\r' || c == '\t'; c = peek())
			line += std::getc(file) == '\n';
	}
	bool seekEof()
	{
		skipBlanks();
		return eof();
	}

	NORETURN void quit(TResult result, const char *message);
	NORETURN LIKE_PRINTF(3, 4) void quitf(TResult result, const char *fmt, ...);

	std::string readToken();
	std::string readWord() { return readToken(); }
	std::string readLine();
	std::string readString() { return readLine(); }
	long long readLong();
	long long readLong(long long low, long long high, const std::string &what = "");
	unsigned long long readUnsignedLong();
	int readInt() { return int(readLong(INT_MIN, INT_MAX)); }
	int readInt(int low, int high, const std::string &what = "") { return int(readLong(low, high, what)); }
	double readDouble();
	void readSpace() { readChar(' ', "space"); }
	void readEoln() { readChar('\n', "EOLN"); }
	void readEof() { eof() ? void() : quit(_pe, "Expected EOF"); }
	void readChar(char want, const char *called)
	{
		if (std::getc(file) != want)
			quit(_pe, (std::string("Expected ") + called).c_str());
		line += want == '\n';
	}
};

InStream inf;
InStream ouf;
InStream ans;
std::fstream tout;

// A static object whose end sees whether the program has said something.
struct TestlibFinalizeGuard {
	static bool alive;
	TestlibFinalizeGuard() { alive = true; }
	~TestlibFinalizeGuard()
	{
		bool told = testlibMode == _checker || testlibMode == _interactor;
		alive = false;
		if (told && __testlib_quits == 0) {
			std::fprintf(stderr, "FAIL Checker must end with a call of quit\n");
			std::_Exit(3);
		}
	}
};

bool TestlibFinalizeGuard::alive = false;
static TestlibFinalizeGuard testlibFinalizeGuard;

static const char *__testlib_word(TResult result)
{
	switch (result) {
	case _ok: return "ok ";
	case _wa: return "wrong answer ";
	case _pe: case _dirt: return "wrong output format ";
	case _points: return "points ";
	case _unexpected_eof: return "unexpected eof ";
	case _fail: return "FAIL ";
	default: return "partially correct ";
	}
}

int resultExitCode(TResult result)
{
	switch (result) {
	case _ok: return OK_EXIT_CODE;
	case _wa: return WA_EXIT_CODE;
	case _pe: case _dirt: case _unexpected_eof: return PE_EXIT_CODE;
	case _points: return 7;
	default: return result >= _partially ? PC_BASE_EXIT_CODE + (result - _partially) : int(_fail);
	}
}

NORETURN void halt(int code) { std::exit(code); }

void InStream::quit(TResult result, const char *message)
{
	__testlib_quits++;
	std::string text = message;
	if (mode != _output && result != _fail) { // it is not the contestant's
		text += " (" + name + (testlibMode == _validator ? ", line " + vtos(line) : std::string()) + ")";
		result = _fail;
	}
	bool whole = result == _ok || result == _points || result >= _partially;
	if (whole && testlibMode != _interactor && ouf.file && !ouf.seekEof()) {
		result = _dirt;
		text = "Extra information in the output file";
	}
	if (isatty(2))
		std::fprintf(stderr, "\033[1m");
	std::fprintf(stderr, "%s%s\n", __testlib_word(result), text.c_str());
	inf.close();
	ouf.close();
	ans.close();
	if (tout.is_open())
		tout.close();
	halt(resultExitCode(result));
}

void InStream::quitf(TResult result, const char *fmt, ...)
{
	FORMAT_TO(text);
	quit(result, text.c_str());
}

NORETURN void quit(TResult result, const std::string &message) { ouf.quit(result, message.c_str()); }

NORETURN LIKE_PRINTF(2, 3) void quitf(TResult result, const char *fmt, ...)
{
	FORMAT_TO(text);
	quit(result, text);
}

NORETURN void quitp(double points, const std::string &message = "")
{
	__testlib_points = points;
	quit(_points, (std::ostringstream() << points << (message.empty() ? "" : " ") << message).str());
}

NORETURN void quitpi(const std::string &points_info, const std::string &message = "")
{
	quit(_points, "points_info=" + points_info + (message.empty() ? "" : " " + message));
}

LIKE_PRINTF(2, 3) void ensuref(bool holds, const char *fmt, ...)
{
	if (holds)
		return;
	FORMAT_TO(text);
	quit(_fail, text);
}

void InStream::init(const std::string &path, TMode whose)
{
	init(std::fopen(path.c_str(), "rb"), whose);
	if (!file) {
		std::fprintf(stderr, "FAIL %s file not found: \"%s\"\n", name.c_str(), path.c_str());
		__testlib_quits++;
		halt(3);
	}
}

std::string InStream::readToken()
{
	if (!strict)
		skipBlanks();
	if (eof())
		quit(_unexpected_eof, "Unexpected end of file - token expected");
	std::string token;
	for (int c = peek(); c != EOF && !isspace(c); c = peek())
		token += char(std::getc(file));
	return token;
}

std::string InStream::readLine()
{
	if (eof())
		quit(_unexpected_eof, "Unexpected end of file - line expected");
	std::string text;
	int c = std::getc(file);
	for (; c != EOF && c != '\n'; c = std::getc(file))
		text += char(c);
	line++;
	return text;
}

// Conversions catch in the two ways that there are.
#define CONVERT(number, text, convert) \
	bool bad = false; \
	try { \
		number = convert(text); \
	} catch (const std::exception &) { \
		bad = true; \
	} catch (...) { \
		bad = true; \
	} \
	if (bad || std::to_string(number) != text) \
		quitf(_pe, "Expected integer, but \"%s\" found", text.c_str())

long long InStream::readLong()
{
	std::string token = readToken();
	long long n = 0;
	CONVERT(n, token, std::stoll);
	return n;
}

unsigned long long InStream::readUnsignedLong()
{
	std::string token = readToken();
	unsigned long long n = 0;
	CONVERT(n, token, std::stoull);
	return n;
}

long long InStream::readLong(long long low, long long high, const std::string &what)
{
	long long n = readLong();
	if (n < low || n > high)
		quitf(_wa, "Integer %s%lld violates the range [%lld, %lld]", what.empty() ? "" : (what + " = ").c_str(), n, low, high);
	return n;
}

double InStream::readDouble()
{
	std::string token = readToken();
	char *end;
	double x = std::strtod(token.c_str(), &end);
	if (*end || std::isnan(x) || std::isinf(x) || token.find_first_of("xX") != std::string::npos)
		quitf(_pe, "Expected double, but \"%s\" found", token.c_str());
	return x;
}

void setName(const char *fmt, ...)
{
	FORMAT_TO(text);
	checkerName = text;
}

void registerTestlibCmd(int argc, char **argv)
{
	testlibMode = _checker;
	if (argc < 4) {
		std::fprintf(stderr, "FAIL Program must be run with the following arguments: <input> <output> <answer>\n");
		__testlib_quits++;
		halt(3);
	}
	inf.init(argv[1], _input);
	ouf.init(argv[2], _output);
	ans.init(argv[3], _answer);
}

void registerInteraction(int argc, char **argv)
{
	testlibMode = _interactor;
	inf.init(argv[1], _input);
	ouf.init(stdin, _output);
	tout.open(argv[2], std::ios_base::out);
	if (argc > 3)
		ans.init(argv[3], _answer);
}

void registerValidation(int, char **)
{
	testlibMode = _validator;
	inf.init(stdin, _input);
	inf.strict = true;
}

// random_t is a generator of numbers that are the same on every machine.
struct random_t {
	unsigned long long state;
	random_t() : state(3905348978240129619LL) {}
	void setSeed(int argc, char **argv)
	{
		for (int i = 1; i < argc; i++)
			for (const char *c = argv[i]; *c; c++)
				state = state * 0x5DEECE66DLL + (unsigned char)*c + 11;
	}
	int next(int below)
	{
		state = (state * 0x5DEECE66DLL + 0xBLL) & ((1LL << 48) - 1);
		return int((state >> 17) % below);
	}
	int next(int low, int high) { return low + next(high - low + 1); }
};

random_t rnd;

void registerGen(int argc, char **argv, int)
{
	testlibMode = _generator;
	rnd.setSeed(argc, argv);
	for (int i = 1; i < argc; i++) {
		std::string word = argv[i];
		size_t at = word.find('=');
		if (word[0] == '-' && at != std::string::npos)
			__testlib_opts[word.substr(1, at - 1)] = word.substr(at + 1);
	}
}

template <class T> T opt(const std::string &key)
{
	if (!__testlib_opts.count(key)) {
		std::fprintf(stderr, "FAIL Opt by key '%s' not found\n", key.c_str());
		halt(3);
	}
	std::istringstream text(__testlib_opts[key]);
	T value;
	text >> value;
	return value;
}

// TestResult is what became of a test, as a scorer is told.
struct TestResult {
	int testIndex;
	std::string verdict;
	double points;
	std::string pointsInfo;
};

void registerScorer(int, char **, std::function<double(std::vector<TestResult>)> scorer)
{
	testlibMode = _scorer;
	std::vector<TestResult> all;
	TestResult one;
	while (std::cin >> one.testIndex >> one.verdict >> one.points >> one.pointsInfo)
		all.push_back(one);
	std::printf("%.3f\n", scorer(all));
}

#endif
