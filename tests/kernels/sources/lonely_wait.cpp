// Waits for a signal that nobody sends.
// args: signals.
#include "lines.hpp"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  comm::Signal signal(reinterpret_cast<__gm__ int32_t*>(args[0]));
  comm::TWAIT(signal, 7, comm::WaitCmp::GE);
}
