// One run of an orchestration: what it has in flight, and what went wrong.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <vector>

#include <baton/own_process.hpp>
#include <baton/place.hpp>

#include "node/message.hpp"

namespace baton::node {

class RunState {
 public:
  RunState(std::uint64_t number, Place place) noexcept : id(number), where(place) {}

  const std::uint64_t id;
  const Place where;

  // Guarded by the mutex of the worker.
  std::size_t tasks = 0;    // that were submitted
  std::size_t pending = 0;  // of these, not complete
  bool failed = false;
  std::vector<Failure> failures;  // of tasks, as they came
  std::exception_ptr thrown;      // by the orchestration

  /// What the run throws: of several failures the one from which the others follow; null if all went well.
  [[nodiscard]] std::exception_ptr root_cause() const;

  /// The run is over. All that wait for its end are told.
  void finish(std::exception_ptr result);
  [[nodiscard]] bool finished() const;
  /// Throws Error in a forked child, where no thread will end the run.
  void wait() const;
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds timeout) const;
  [[nodiscard]] std::exception_ptr result() const;

 private:
  OwnProcess process_;
  mutable std::mutex mutex_;
  mutable std::condition_variable ended_;
  bool finished_ = false;      // guarded by mutex_
  std::exception_ptr result_;  // guarded by mutex_
};

}  // namespace baton::node
