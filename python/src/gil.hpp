// Letting go of the GIL, and taking it on threads of others.
//
// Python ends a thread that asks for the GIL while the interpreter ends, by unwinding it, which no C++ destructor
// allows. Such a thread waits for the end of the process instead.
#pragma once

#include <unistd.h>

#include <nanobind/nanobind.h>

namespace baton::python {

/// Returns unless the interpreter ends and this is not the thread that ends it.
inline void wait_if_interpreter_ends() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  const bool ends = Py_IsFinalizing() != 0;
#else
  const bool ends = _Py_IsFinalizing() != 0;
#endif
  while (ends && ::getpid() != ::gettid()) ::pause();
}

/// Without the GIL until the end of the scope.
class Unlocked {
 public:
  Unlocked() noexcept : thread_(PyEval_SaveThread()) {}
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked() {
    wait_if_interpreter_ends();
    PyEval_RestoreThread(thread_);
  }

 private:
  PyThreadState* thread_;
};

/// With the GIL until the end of the scope, whatever thread this is.
class Locked {
 public:
  Locked() noexcept {
    wait_if_interpreter_ends();
    state_ = PyGILState_Ensure();
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

}  // namespace baton::python
