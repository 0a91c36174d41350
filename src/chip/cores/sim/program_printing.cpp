// The functions of printing.hpp for kernels that are linked into a program: there --wrap makes the program call these.
// Outside kernels they do what the standard library does.
#include <intrinsic.h>

#include <pto/target/core.hpp>

#define BATON_PRINTING_IN_LIBBATON
#define BATON_PRINTING_LINKAGE __attribute__((visibility("default")))
#define BATON_PRINTING_REAL(name) name
#define BATON_PRINTING_CORE() baton_core_current()
#include <printing.hpp>
