// Blocking calls that Ctrl-C ends.
//
// Python only notes that a signal came; its handler runs when the main thread asks. So the main thread waits for a
// semaphore, which a signal interrupts, while another thread makes the call. A call that was interrupted goes on in its
// thread until it ends or reaches its deadline: it owns all that it uses.
#pragma once

#include <semaphore.h>

#include <exception>
#include <functional>
#include <memory>

#include <nanobind/nanobind.h>

#include <baton/own_process.hpp>

namespace baton::python {

namespace nb = nanobind;

/// Posted once by any thread, awaited once by a thread that holds the GIL.
class Event {
 public:
  Event() noexcept { ::sem_init(&semaphore_, 0, 0); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { ::sem_destroy(&semaphore_); }

  void post() noexcept { ::sem_post(&semaphore_); }
  /// Releases the GIL while it waits. Throws nb::python_error when a signal handler raised, and Error in a forked child
  /// of the process that made the event: nobody posts it there.
  void wait();

 private:
  OwnProcess process_;
  ::sem_t semaphore_;
};

/// Whether signal handlers run on the calling thread.
[[nodiscard]] bool on_main_thread() noexcept;

/// To be told when something goes on that nobody waits for: the process then ends without destroying what that uses.
void note_abandoned() noexcept;

/// Runs `call` without the GIL and returns when it is done, or throws nb::python_error when a signal handler raised;
/// then `call` may still be running.
void run_interruptibly(std::function<void()> call);

/// The same for a call with a result.
template <class Call>
[[nodiscard]] auto interruptibly(Call call) {
  using Result = decltype(call());
  auto result = std::make_shared<std::unique_ptr<Result>>();
  run_interruptibly([call = std::move(call), result]() mutable { *result = std::make_unique<Result>(call()); });
  return std::move(**result);
}

}  // namespace baton::python
