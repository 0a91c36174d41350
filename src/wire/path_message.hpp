// What ranks of different hosts say to each other. Each message is this header and `bytes` of payload.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/mail.hpp"

namespace baton::wire {

inline constexpr std::uint32_t kPathMagic = 0x48544150;  // "PATH" in memory
inline constexpr std::uint16_t kPathVersion = 6;

/// The topic of posts that every rank listens to: members that released a window. No domain has this number.
inline constexpr AllocationKey kReleases{~std::uint64_t{0}, 0};

enum class PathKind : std::uint16_t {
  put = 1,      // the payload goes to `offset` of the receiver's part of `window`; then the signal, if any, changes
  get = 2,      // send `value` bytes from `offset` of your part of `window` as the reply `request`
  reply = 3,    // to the get `request`; without payload where `value` is not 0: it was refused
  post = 4,     // the payload is for who listens to the topic `window`
  flush = 5,    // tell me when you have done all that I sent before this
  applied = 6,  // nothing but the number of that name; it has no turn
  sum =
      7,  // the payload is added to the elements, of the kind `request`, at `offset` of the receiver's part of `window`
  // Pieces of `value` bytes for places around `offset` of the receiver's part of `window`, one after the other. The
  // payload has their distances from there, an int64_t each, then the pieces. `request` is an ElementChange, and the
  // kind of the elements in the bits from kElementShift on.
  scatter = 8,
};
inline constexpr PathKind kLastPathKind = PathKind::scatter;
inline constexpr unsigned kElementShift = 8;

/// What becomes of an element when another one comes to it.
enum class ElementChange : std::uint8_t {
  replace = 0,
  add = 1,
  max = 2,
  min = 3,
};
inline constexpr ElementChange kLastElementChange = ElementChange::min;

/// What becomes of the signal at `signal_offset` of the receiver's part of `signals`.
enum class SignalChange : std::uint32_t {
  none = 0,
  add = 1,      // to a 32-bit counter, which wraps round
  set = 2,      // a 32-bit counter
  advance = 3,  // a 64-bit word
};
inline constexpr SignalChange kLastSignalChange = SignalChange::advance;

struct PathHeader {
  std::uint32_t magic;
  std::uint16_t version;
  PathKind kind;
  std::uint32_t source;  // rank of the job
  SignalChange change;
  std::uint64_t pass;      // what the receiver told the ranks of its job, and nobody else
  std::uint64_t sequence;  // 1, 2, ... from this source to this receiver; 0: without a turn
  std::uint64_t applied;   // how many messages of the receiver the source has dealt with
  AllocationKey window;
  std::uint64_t offset;
  std::uint64_t bytes;  // of the payload
  AllocationKey signals;
  std::uint64_t signal_offset;
  std::int64_t value;
  std::uint64_t request;
};
static_assert(sizeof(PathHeader) == 112);

/// Whom a message must be for: what only the receiver knows.
struct PathReceiver {
  std::uint32_t rank;
  std::uint32_t rank_count;
  std::uint64_t pass;
};

/// Why `header_bytes` at `header`, which came with a payload of `payload_bytes`, are no message for `receiver`; nullptr
/// if they are. Where it is to be done is not checked here: that is up to the code that knows the windows.
[[nodiscard]] const char* path_defect(const void* header, std::size_t header_bytes, std::size_t payload_bytes,
                                      const PathReceiver& receiver) noexcept;

}  // namespace baton::wire
