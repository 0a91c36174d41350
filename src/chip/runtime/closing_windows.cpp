#include "chip/runtime/closing_windows.hpp"

#include <exception>

namespace baton::chip {

ClosingWindows::~ClosingWindows() {
  leave_all();
  for (Closing& one : windows_) one.group->await_all_left();
}

void ClosingWindows::add(std::unique_ptr<DeviceWindow> window, std::unique_ptr<WindowGroup> group,
                         OwnedBuffer context) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) {
      group->tell_failure(*failure_);
    } else if (std::uncaught_exceptions() > 0) {
      group->tell_failure(Error(Code::rank_failed, "an exception ended its program, or a part of it"));
    }
    windows_.push_back({std::move(window), std::move(group), std::move(context)});
  }
  if (std::this_thread::get_id() == chip_) sweep();
}

void ClosingWindows::sweep() {
  const std::lock_guard lock(mutex_);
  if (windows_.empty()) return;
  leave_all();
  std::erase_if(windows_, [](const Closing& one) { return one.group->all_left(); });
}

void ClosingWindows::note_failure(const std::optional<Error>& failure) {
  const std::lock_guard lock(mutex_);
  failure_ = failure;
}

void ClosingWindows::leave_all() {
  for (Closing& one : windows_) {
    if (one.left) continue;
    one.context = {};
    one.window->leave();
    one.group->leave();
    one.left = true;
  }
}

}  // namespace baton::chip
