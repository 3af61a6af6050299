// The run-time functions of C++ exceptions that Debian's library for WASI does
// not have. There is no unwinding: a throw says what was thrown and ends the
// module with a trap, which the host reports as a failure of the checker.
#include <cstdio>
#include <cstdlib>
#include <typeinfo>

extern "C" {

void *__cxa_allocate_exception(size_t size)
{
	// The library keeps a header in front of the object; nobody reads it here.
	void *object = calloc(1, size);
	if (!object)
		__builtin_trap();
	return object;
}

void __cxa_free_exception(void *object) { free(object); }

[[noreturn]] void __cxa_throw(void *, std::type_info *type, void (*)(void *))
{
	fflush(stdout);
	fprintf(stderr, "threw an exception of type %s, which cannot be caught here\n", type ? type->name() : "unknown");
	__builtin_trap();
}

[[noreturn]] void __cxa_rethrow() { __builtin_trap(); }

void *__cxa_begin_catch(void *object) { return object; }

void __cxa_end_catch() {}

// Debian's compiler run-time library for wasm32 was built with the stack
// protector, whose symbols no library provides.
unsigned long __stack_chk_guard = 0x5bd1e995;

[[noreturn]] void __stack_chk_fail() { __builtin_trap(); }

} // extern "C"
