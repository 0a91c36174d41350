#include "node/run_state.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "comm/hang_report.hpp"

namespace baton::node {
namespace {

/// What a chip says of a failure that began elsewhere.
bool follows_from_another(const Failure& failure) {
  return failure.code == Code::peer_left || failure.code == Code::wait_timeout || failure.code == Code::peer_died;
}

/// Of chips whose waits reach their deadlines together one tells what all of them wait for.
bool tells_of_all(const Failure& failure) {
  return std::ranges::find(failure.notes, comm::kHangReportTitle) != failure.notes.end();
}

}  // namespace

std::exception_ptr RunState::root_cause() const {
  // The node's own word on a chip that died comes with the code of a rank that failed.
  const auto root = std::find_if_not(failures.begin(), failures.end(), follows_from_another);
  if (root != failures.end())
    return std::make_exception_ptr(Error(root->code, root->message, root->notes, root->remedy));
  if (thrown) return thrown;
  if (failures.empty()) return nullptr;
  const auto telling = std::ranges::find_if(failures, tells_of_all);
  const Failure& told = telling != failures.end() ? *telling : failures.front();
  return std::make_exception_ptr(Error(told.code, told.message, told.notes, told.remedy));
}

void RunState::finish(std::exception_ptr result) {
  const std::lock_guard lock(mutex_);
  result_ = std::move(result);
  finished_ = true;
  ended_.notify_all();
}

bool RunState::finished() const {
  const std::lock_guard lock(mutex_);
  return finished_;
}

void RunState::wait() const {
  process_.check("this run");
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return finished_; });
}

bool RunState::wait_for(std::chrono::nanoseconds timeout) const {
  process_.check("this run");
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, timeout, [this] { return finished_; });
}

std::exception_ptr RunState::result() const {
  const std::lock_guard lock(mutex_);
  return result_;
}

}  // namespace baton::node
