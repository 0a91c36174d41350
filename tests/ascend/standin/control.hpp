// How a test looks at the stand-in for the libraries of Ascend chips, and what it asks of it.
//
// The stand-in has the functions that platforms a2a3 and a5 call, by their names, as far as their documentation goes.
// It is stricter than a chip: a wrong order, a wrong thread, a dead or foreign handle is an error, and what is left
// behind is kept for the test to see. A process without a test's code asks with variables: see state.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace standin {

#define STANDIN_API __attribute__((visibility("default")))

/// Forgets everything, also what is alive.
STANDIN_API void reset();
/// Counts calls and kernels from 0 again.
STANDIN_API void reset_counts();

/// Call number `nth` of this function, from 1, counted from now, fails with `code` and does nothing.
STANDIN_API void fail_call(const std::string& function, int nth, int code);
/// Kernel number `nth` from now fails with `code` when it is executed, not when it is launched.
STANDIN_API void fail_kernel(int nth, int code);
/// Kernel number `nth` from now does not end until release_kernels().
STANDIN_API void hold_kernel(int nth);
STANDIN_API void release_kernels();
/// Neither of these two devices can reach the other's memory.
STANDIN_API void separate(int device, int other);
/// The architecture that devices tell, 2201 or 3510.
STANDIN_API void set_architecture(std::int64_t number);

/// How many threads wait for a stream now.
STANDIN_API int waiting_threads();
/// How often each function was called since reset().
STANDIN_API std::map<std::string, int> calls();
/// What broke a rule: calls that were refused, and what was alive when its device or process ended.
STANDIN_API std::vector<std::string> violations();
/// What is alive: devices that are set, streams, events, memory, binaries.
STANDIN_API std::vector<std::string> alive();

}  // namespace standin
