// Cuts the output of one rank into lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace baton::job {

/// What a rank's bytes become on their way out.
enum class OutputForm : std::uint8_t {
  prefixed,  ///< Whole lines, each behind the rank's prefix.
  lines,     ///< Whole lines.
  raw,       ///< Bytes as they come. For a single rank.
};

/// Turns chunks of bytes into whole lines. A line longer than kWholeLineBytes comes in pieces, and until it ends
/// nothing else may be written to the same place: holds_line() says so.
class LineStream {
 public:
  static constexpr std::size_t kWholeLineBytes = 64 * 1024;

  LineStream(OutputForm form, std::string prefix) : form_(form), prefix_(std::move(prefix)) {}

  /// Appends to `out` what `chunk` completes. Keeps the rest.
  void take(std::string_view chunk, std::string& out);
  /// Appends what is left; a last line without a newline gets one.
  void finish(std::string& out);
  /// Ends a line that comes in pieces with a newline of its own. What follows starts a new line, behind a new prefix.
  void break_line(std::string& out);

  /// In the middle of a line of which pieces have been written.
  [[nodiscard]] bool holds_line() const noexcept { return in_pieces_; }

 private:
  OutputForm form_;
  std::string prefix_;
  std::string rest_;  // the beginning of a line that has not ended, if none of it has been written
  bool in_pieces_ = false;
};

}  // namespace baton::job
