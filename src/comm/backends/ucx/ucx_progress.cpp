#include "comm/backends/ucx/ucx_progress.hpp"

#include <exception>

#include "base/log.hpp"
#include "base/service_thread.hpp"

namespace baton::ucx {

ProgressThread::ProgressThread(UcxPath& path)
    : path_(path), thread_(start_service_thread("baton-ucx", [this] { run(); })) {}

ProgressThread::~ProgressThread() {
  if (!thread_.joinable()) return;
  // Pairs with the load in run().
  stop_.store(true, std::memory_order_release);
  path_.alarm().poke();
  thread_.join();
}

void ProgressThread::run() {
  Alarm::Cause cause = Alarm::Cause::poked;
  try {
    // Pairs with the store in the destructor.
    while (!stop_.load(std::memory_order_acquire)) cause = path_.alarm().wait(path_.take_turn(cause));
  } catch (const std::exception& error) {
    log::warn("no thread deals with messages of other hosts any more: {}", error.what());
  }
}

}  // namespace baton::ucx
