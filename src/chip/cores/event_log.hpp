// What happened on simulated chips, one line per event: rank, core, kernel, what. No addresses and no times, so that
// two runs under one seed give the same bytes.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/unique_fd.hpp"

namespace baton::chip {

/// Shared by the chips of a process. Any thread.
class EventLog {
 public:
  /// Keeps the lines in memory.
  EventLog() = default;
  /// Writes each line to a new file at once. Throws Error (system) if that cannot be made.
  explicit EventLog(const std::string& path);
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  /// The log that BATON_EVENTS asks for, or nullptr. In a process that `baton run` started, the rank's number is
  /// appended to the name of the file.
  [[nodiscard]] static EventLog* of_process();

  /// A file that cannot be written any longer is given up, with a warning.
  void add(std::string_view line);

  /// The lines in memory, each with its end of line.
  [[nodiscard]] std::string text() const;

 private:
  enum class To : std::uint8_t { memory, file, nowhere };

  mutable std::mutex mutex_;
  UniqueFd file_;
  std::string text_;    // guarded by mutex_
  To to_ = To::memory;  // guarded by mutex_
};

}  // namespace baton::chip
