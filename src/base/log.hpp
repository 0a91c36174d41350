// The log: one line per event on standard error, "baton: [level] text".
#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <baton/options.hpp>

namespace baton::log {

/// Whether a line of this level would be written. The threshold is Options::log.
[[nodiscard]] bool enabled(LogLevel level) noexcept;

/// Replaces the threshold. options() calls it once it knows Options::log.
void set_threshold(LogLevel level) noexcept;

/// Writes one line, if the level is enabled. Thread-safe; never throws.
void write(LogLevel level, std::string_view text) noexcept;

template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(LogLevel::debug)) write(LogLevel::debug, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(LogLevel::info)) write(LogLevel::info, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(LogLevel::warn)) write(LogLevel::warn, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace baton::log
