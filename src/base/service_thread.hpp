// Starting threads; service threads work beside a program and are none of its business.
#pragma once

#include <functional>
#include <thread>

namespace baton {

/// Throws Error (system) with what to try if the system gives no more.
[[nodiscard]] std::thread start_thread(std::function<void()> work);

/// Starts a service thread under `name`, of at most 15 bytes. It gets no signals: those are for the threads of the
/// program.
[[nodiscard]] std::thread start_service_thread(const char* name, std::function<void()> work);

}  // namespace baton
