// Saying what went wrong, and writing to the log.
#ifndef BATON_ORCHESTRATION_REPORT_HPP
#define BATON_ORCHESTRATION_REPORT_HPP

#include <stdarg.h>
#include <stdio.h>
#include <orchestration/library.hpp>

enum : int32_t {
  PTO2_ERROR_NONE = 0,
  PTO2_ERROR_INVALID_ARGS = 5,
  PTO2_ERROR_REQUIRE_SYNC_START_INVALID = 7,
  PTO2_ERROR_TENSOR_WAIT_TIMEOUT = 8,
  PTO2_ERROR_EXPLICIT_ORCH_FATAL = 9,
  PTO2_ERROR_SCHEDULER_TIMEOUT = 100,
};

namespace baton::orchestration {

/// The run fails with `code`, unless it has failed before. What does not fit into the message is cut off.
__attribute__((format(printf, 3, 4))) inline void report(int32_t code, BatonPlaceInSource where, const char* format,
                                                         ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  runtime().report_fatal(code, text, where);
}

__attribute__((format(printf, 3, 4))) inline void log(BatonLogLevel level, BatonPlaceInSource where, const char* format,
                                                      ...) {
  if (runtime().log_enabled(level) == 0) return;
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  runtime().log(level, text, where);
}

}  // namespace baton::orchestration

#define rt_report_fatal(code, ...) \
  ::baton::orchestration::report(static_cast<int32_t>(code), {__FILE__, __LINE__}, __VA_ARGS__)

/// Whether the run has failed: what is called from then on does nothing.
inline bool rt_is_fatal() { return baton::orchestration::runtime().is_fatal() != 0; }

/// Ends the orchestration if the condition does not hold.
#define always_assert(condition)                                                                            \
  do {                                                                                                      \
    if (!(condition)) ::baton::orchestration::runtime().assertion_failed(#condition, {__FILE__, __LINE__}); \
  } while (false)

#define LOG_DEBUG(...) ::baton::orchestration::log(BATON_LOG_DEBUG, {__FILE__, __LINE__}, __VA_ARGS__)
#define LOG_INFO(...) ::baton::orchestration::log(BATON_LOG_INFO, {__FILE__, __LINE__}, __VA_ARGS__)
#define LOG_TIMING(...) ::baton::orchestration::log(BATON_LOG_INFO, {__FILE__, __LINE__}, __VA_ARGS__)
#define LOG_WARN(...) ::baton::orchestration::log(BATON_LOG_WARN, {__FILE__, __LINE__}, __VA_ARGS__)
#define LOG_ERROR(...) ::baton::orchestration::log(BATON_LOG_ERROR, {__FILE__, __LINE__}, __VA_ARGS__)

#endif
