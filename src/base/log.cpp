#include "base/log.hpp"

#include <atomic>
#include <memory>

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace baton::log {
namespace {

constexpr int kUnknown = -1;

/// A LogLevel, or kUnknown until options() was read. Relaxed: it publishes nothing but itself.
std::atomic<int> threshold{kUnknown};

// Reading the options sets the threshold. A malformed variable is reported when the options are asked for; until then
// the log keeps to its default.
int read_threshold() noexcept {
  try {
    static_cast<void>(options());
  } catch (...) {
    int expected = kUnknown;
    threshold.compare_exchange_strong(expected, static_cast<int>(Options{}.log), std::memory_order_relaxed);
  }
  return threshold.load(std::memory_order_relaxed);
}

std::string_view name_of(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::trace: return "trace";
    case LogLevel::debug: return "debug";
    case LogLevel::info: return "info";
    case LogLevel::warn: return "warn";
    case LogLevel::error: return "error";
    case LogLevel::off: break;
  }
  return "off";
}

// Never destroyed: destructors of other static objects may still write.
spdlog::logger& logger() {
  static spdlog::logger* const instance = [] {
    auto made = std::make_unique<spdlog::logger>("baton", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(spdlog::level::trace);
    made->set_pattern("%v");
    return made.release();
  }();
  return *instance;
}

}  // namespace

bool enabled(LogLevel level) noexcept {
  int least = threshold.load(std::memory_order_relaxed);
  if (least == kUnknown) least = read_threshold();
  return level != LogLevel::off && static_cast<int>(level) >= least;
}

void set_threshold(LogLevel level) noexcept { threshold.store(static_cast<int>(level), std::memory_order_relaxed); }

void write(LogLevel level, std::string_view text) noexcept {
  if (!enabled(level)) return;
  try {
    const std::string line = fmt::format("baton: [{}] {}", name_of(level), text);
    // The level is part of the line: to spdlog all lines are alike.
    logger().log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
  } catch (...) {
    // There is nobody left to tell.
  }
}

}  // namespace baton::log
