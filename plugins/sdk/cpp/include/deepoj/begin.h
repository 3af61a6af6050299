// What testlib.h needs to compile for WASI without C++ exceptions. It goes in
// front of the real header, and deepoj/end.h behind it: deepoj/testlib.h has both.
//
// testlib.h catches exceptions in one situation only: when std::stoll or
// std::stoull is given something that is no number. Without unwinding these
// calls must not throw, so inside testlib.h they are replaced by functions that
// raise a flag, "try" clears the flag and "catch" runs if it was raised.
//
// The macros must not reach the standard library, so everything that testlib.h
// includes is included here first.
#ifndef DEEPOJ_BEGIN_H
#define DEEPOJ_BEGIN_H

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace deepoj {

// thrown is the flag in the place of an exception.
inline bool &thrown()
{
	static bool flag;
	return flag;
}

// caught clears the flag and reports whether it was raised.
inline bool caught()
{
	bool was = thrown();
	thrown() = false;
	return was;
}

// number calls one of the C library's functions the way std::stoll does.
template <class Number> Number number(Number (*convert)(const char *, char **, int), const std::string &text)
{
	char *end;
	errno = 0;
	Number n = convert(text.c_str(), &end, 10);
	if (end == text.c_str() || errno == ERANGE)
		thrown() = true;
	return n;
}

} // namespace deepoj

namespace std {
// The replacements live in std because testlib.h calls them as std::stoll.
inline long long deepoj_stoll(const string &text) { return deepoj::number(strtoll, text); }
inline unsigned long long deepoj_stoull(const string &text) { return deepoj::number(strtoull, text); }
} // namespace std

#endif

#define stoll deepoj_stoll
#define stoull deepoj_stoull
#define try if (deepoj::thrown() = false, true)
#define catch(...) if (deepoj::caught())
