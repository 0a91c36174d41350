// The forms in which people write the values of options. Every function throws Error (bad_option) that shows `source`
// (a variable or a command line option), the value and the accepted form.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <baton/options.hpp>

namespace baton {

inline constexpr std::string_view kDurationForm =
    "a duration such as 30, 30s, 1.5s, 500ms or 2m (a bare number counts seconds)";
inline constexpr std::string_view kBytesForm = "a size such as 500MiB, 2GiB or 65536 (a bare number counts bytes)";
inline constexpr std::string_view kLogLevelForm = "trace, debug, info, warn, error or off";
inline constexpr std::string_view kPipeOrderForm = "program or strict";
inline constexpr std::string_view kProfileForm =
    "off, summary, or a file with a dot or a slash in its name, such as tasks.bin or ./tasks";
inline constexpr std::string_view kTraceForm =
    "off, last, or a file with a dot or a slash in its name, such as run.trace";
inline constexpr std::string_view kCheckForm = "on or off";
inline constexpr std::string_view kInPlaceForm = "auto, never or always";

/// Always longer than zero.
[[nodiscard]] std::chrono::nanoseconds parse_duration(std::string_view source, std::string_view text);

/// Always more than zero. Units are KiB, MiB, GiB and TiB.
[[nodiscard]] std::uint64_t parse_bytes(std::string_view source, std::string_view text);

/// A decimal number, at least `minimum`. `form` is what the message shows as accepted.
[[nodiscard]] int parse_integer(std::string_view source, std::string_view text, int minimum, std::string_view form);

/// A decimal number of 64 bits.
[[nodiscard]] std::uint64_t parse_seed(std::string_view source, std::string_view text, std::string_view form);

[[nodiscard]] PipeOrder parse_pipe_order(std::string_view source, std::string_view text);

[[nodiscard]] InPlace parse_in_place(std::string_view source, std::string_view text);

[[nodiscard]] LogLevel parse_log_level(std::string_view source, std::string_view text);

/// "off", "summary", or a file. A file has a dot or a slash in its name: a mistyped word is not taken for one.
[[nodiscard]] std::string parse_profile(std::string_view source, std::string_view text);

/// "off", "last", or a file, likewise.
[[nodiscard]] std::string parse_trace(std::string_view source, std::string_view text);

[[nodiscard]] bool parse_check(std::string_view source, std::string_view text);

/// Any text but the empty one.
[[nodiscard]] std::string parse_name(std::string_view source, std::string_view text, std::string_view form);

}  // namespace baton
