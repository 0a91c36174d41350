// Frames: what the launcher, its agents and their ranks send each other over streams of bytes.
//
// A frame is a header of 8 bytes (the length of what follows, the kind) and a body. Numbers are little-endian. A reader
// trusts nothing: a length out of bounds, a body that is too short or too long, is an Error (protocol).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace baton::job {

enum class FrameKind : std::uint32_t {
  // Between the launcher and the agent of a host.
  hello = 1,    // agent: the version, and which host it is on
  refused,      // launcher: why this agent may not take part
  job,          // launcher: what to run
  started,      // agent: a rank runs
  not_started,  // agent: a rank does not
  ended,        // agent: the process of a rank ended
  output,       // agent: bytes that a rank wrote
  output_end,   // agent: a rank writes nothing more
  room,         // launcher: that much output was passed on and as much may follow
  input,        // launcher: bytes for rank 0
  input_end,    // launcher: no more of them
  input_room,   // agent: as `room`, for input
  signal,       // launcher: for all ranks of the host
  look,         // launcher: what do the ranks do? agent: somebody asks that here, about those of all hosts
  seen,         // both, in answer to a `look`: what one rank does
  looked,       // both: that was all
  signal_rank,  // launcher: for one rank
  stopped,      // launcher: is the process of a rank stopped? agent: whether it is
  meeting,      // agent: where a rank that it does not start itself joins
  finish,       // launcher: end what is left of the ranks, and then yourself
  finished,     // agent: nothing of them is left but output
  heartbeat,    // both: nothing; there is always something that the other host has to acknowledge
  trace,        // agent: a part of what the ranks of the host recorded
  clock,        // launcher: what do your clocks show? agent: that
  stillness,    // launcher: do all ranks sleep? agent: that, also unasked when it changes

  // Between the agents of a job that another launcher started, and the one of them where it gathers.
  attend = 32,  // agent: the version, and its host
  claim,        // agent: a rank came
  overdue,      // agent: its ranks have waited long enough
  farewell,     // agent: its ranks have left

  // Between an agent and its ranks.
  join = 64,  // rank: which one it is, of how many
  welcome,    // agent, and the one where a job gathers: who is where
  reachable,  // agent: where other agents find it
  failed,     // agent, and the one where a job gathers: a rank, or all of them, will not meet the others

  // Between all.
  record = 96,  // a part of what a rank gives to all others
  rank_end,     // a rank left, or died
};

/// Larger ones come from nobody who speaks this protocol.
inline constexpr std::size_t kMaxFrameBody = std::size_t{16} << 20;
inline constexpr std::size_t kFrameHeader = 8;

/// Builds one frame.
class FrameWriter {
 public:
  explicit FrameWriter(FrameKind kind);

  template <std::integral T>
  FrameWriter& put(T value) {
    for (std::size_t i = 0; i < sizeof value; ++i)
      bytes_.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff));
    return *this;
  }
  FrameWriter& put_text(std::string_view text);
  FrameWriter& put_texts(const std::vector<std::string>& texts);
  /// What is left of the body; nothing comes behind it.
  FrameWriter& put_rest(std::string_view bytes);

  /// The frame. Throws Error (invalid_argument) if it is too large.
  [[nodiscard]] std::string finish();

 private:
  std::string bytes_;
};

/// Reads the body of one frame in the order in which it was written.
class FrameReader {
 public:
  FrameReader(FrameKind kind, std::string_view body) noexcept : kind_(kind), body_(body) {}

  [[nodiscard]] FrameKind kind() const noexcept { return kind_; }

  template <std::integral T>
  [[nodiscard]] T get() {
    const std::string_view bytes = take(sizeof(T));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return static_cast<T>(value);
  }
  [[nodiscard]] std::string get_text() { return std::string(take(get<std::uint32_t>())); }
  [[nodiscard]] std::vector<std::string> get_texts();
  [[nodiscard]] std::string_view get_rest() noexcept;
  [[nodiscard]] bool at_end() const noexcept { return body_.empty(); }
  /// Call after the last get: throws if something is left.
  void expect_end() const;

 private:
  std::string_view take(std::size_t bytes);

  FrameKind kind_;
  std::string_view body_;
};

/// Puts frames together from bytes as they come.
class FrameAssembler {
 public:
  void add(std::string_view bytes) { buffer_.append(bytes); }
  /// The next whole frame, valid until the next call of add() or next(); nothing if more bytes are needed.
  [[nodiscard]] std::optional<FrameReader> next();

 private:
  std::string buffer_;
  std::size_t begin_ = 0;  // of what has not been taken
};

}  // namespace baton::job
