#include "chip/cores/event_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "base/log.hpp"

namespace baton::chip {

EventLog::EventLog(const std::string& path)
    : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)), to_(To::file) {
  if (file_.get() < 0) fail_system(fmt::format("opening {} for the events of the chips", path));
}

EventLog* EventLog::of_process() {
  static const std::unique_ptr<EventLog> log = []() -> std::unique_ptr<EventLog> {
    if (!options().events) return nullptr;
    std::string path = *options().events;
    if (options().rank) path += fmt::format(".{}", *options().rank);
    return std::make_unique<EventLog>(path);
  }();
  return log.get();
}

void EventLog::add(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (to_ == To::nowhere) return;
  text_ += line;
  text_ += '\n';
  if (to_ == To::memory) return;
  for (std::string_view left = text_; !left.empty();) {
    const ssize_t written = ::write(file_.get(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      // Kernels need not fail because a disk is full.
      log::warn("the events of the chips cannot be written: {}; no more follow", std::strerror(errno));
      to_ = To::nowhere;
      break;
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  text_.clear();
}

std::string EventLog::text() const {
  const std::lock_guard lock(mutex_);
  return text_;
}

}  // namespace baton::chip
