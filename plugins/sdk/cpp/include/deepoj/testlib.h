// Lets testlib.h compile for WASI without C++ exceptions. Put it in front of the
// one source that includes testlib.h, with the compiler's flag
// "-include deepoj/testlib.h": it includes the real header, whose include guard
// makes the source's own include do nothing. No other source may have the flag,
// as the functions of the real header are not inline.
#ifndef DEEPOJ_TESTLIB_H
#define DEEPOJ_TESTLIB_H

#include <deepoj/begin.h>
#include <testlib.h>
#include <deepoj/end.h>

#endif
