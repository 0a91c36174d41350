// The functions of printing.hpp for kernels that are linked into a program: there --wrap makes the program call these.
// Outside kernels they do what the standard library does.
#include <unistd.h>

#include <intrinsic.h>

#include <pto/target/core.hpp>

// Where assert is off, <cassert> does not tell of it.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)
extern "C" [[noreturn]] void __assert_fail(const char* assertion, const char* file, unsigned line,
                                           const char* function) noexcept;

#define BATON_PRINTING_IN_LIBBATON
#define BATON_PRINTING_LINKAGE __attribute__((visibility("default")))
#define BATON_PRINTING_REAL(name) name
#define BATON_PRINTING_CORE() baton_core_current()
#include <printing.hpp>
