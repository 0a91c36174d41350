// How functions of a platform's library return what went wrong: a number, and a message for each thread.
#pragma once

#include <exception>
#include <new>
#include <string>

#include <baton/error.hpp>

namespace baton::platforms {

/// The message of this thread's last failure.
inline std::string& last_error() {
  thread_local std::string message;
  return message;
}

/// Runs `body`; what it throws becomes a number of the error table and the last error.
template <class Body>
int guarded(Body&& body) noexcept {
  try {
    body();
    return 0;
  } catch (const Error& error) {
    last_error() = error.what();
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    last_error() = "out of memory";
    return static_cast<int>(Code::out_of_memory);
  } catch (const std::exception& error) {
    last_error() = error.what();
    return static_cast<int>(Code::internal);
  }
}

/// The same on a thread that works with `device` from then on.
template <class Device, class Body>
int guarded(const Device& device, Body&& body) noexcept {
  return guarded([&] {
    device.make_current();
    body();
  });
}

}  // namespace baton::platforms
