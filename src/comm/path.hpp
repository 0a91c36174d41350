// The path to ranks of other hosts, whose memory no pointer reaches: what is said to them, and what comes from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <baton/collective_types.hpp>

#include "base/deadline.hpp"
#include "base/parking.hpp"
#include "base/transfer.hpp"
#include "wire/path_message.hpp"

namespace baton::comm {

class Delivery;

/// A place in the part of a rank of the job.
struct FarPlace {
  std::uint32_t rank;
  wire::AllocationKey window;
  std::uint64_t offset;
};

/// What changes, after the bytes of a put, in the part of the same rank.
struct FarSignal {
  wire::SignalChange change = wire::SignalChange::none;
  wire::AllocationKey window{};
  std::uint64_t offset = 0;
  std::int64_t value = 0;
};

/// Pieces of `piece_bytes` each for places around one, in their order: their distances from it in bytes, an int64_t
/// each, then the pieces.
struct FarPieces {
  std::span<const std::byte> bytes;
  std::uint64_t piece_bytes;
  wire::ElementChange change;
  Element element;  // of those that are not replaced
};

/// What a flush waits for.
enum class Flushed : std::uint8_t {
  puts,        // and notifies
  everything,  // posts, too, and those of all ranks of this host
};

/// One rank's paths to all ranks of other hosts. Any thread may call any function.
///
/// What one rank sends to another is done there in the order in which it was sent. A rank that has left sees nothing
/// any more: what is sent to it is dropped. Calls throw peer_died if the rank is dead, wait_timeout at the deadline.
/// As a lookout, it deals with what comes while a thread of the rank sleeps.
class Path : public Lookout {
 public:
  Path() = default;
  virtual ~Path() = default;

  /// Copies, then changes the signal. When it returns the source may be used again; at its target it is done later.
  virtual void put(const FarPlace& to, const void* source, std::size_t bytes, const FarSignal& signal,
                   const Deadline& deadline) = 0;
  /// Adds to elements of the kinds that add_elements() knows, one at a time; else as put().
  virtual void add(const FarPlace& to, Element element, const void* addends, std::size_t bytes,
                   const Deadline& deadline) = 0;
  /// Changes elements at places around `to`; else as put().
  virtual void scatter(const FarPlace& to, const FarPieces& pieces, const Deadline& deadline) = 0;
  /// Complete when it returns. Throws peer_left if the rank has left, released if it does not know the window any
  /// more.
  virtual void get(const FarPlace& from, void* target, std::size_t bytes, const Deadline& deadline) = 0;
  /// The same as put() and get(), but they go on by themselves. Never block; what goes wrong is told at their end.
  [[nodiscard]] virtual std::unique_ptr<Transfer> start_put(const FarPlace& to, const void* source, std::size_t bytes,
                                                            const FarSignal& signal, const Deadline& deadline) = 0;
  [[nodiscard]] virtual std::unique_ptr<Transfer> start_get(const FarPlace& from, void* target, std::size_t bytes,
                                                            const Deadline& deadline) = 0;
  /// Waits until it is over, and ends it.
  virtual void finish(Transfer& transfer) = 0;
  /// A short message for who listens to `topic` at `rank` (Delivery::listen()); nothing if the rank is gone. Waits for
  /// nobody.
  virtual void post(std::uint32_t rank, wire::AllocationKey topic, std::span<const std::byte> bytes) = 0;
  /// True when what this rank sent before has been done at its targets, or they are gone; false if the deadline passes
  /// first.
  [[nodiscard]] virtual bool flush(Flushed what, const Deadline& deadline) = 0;

  /// Deals with what has come, unless another thread does so already. Never blocks. A thread that waits for something
  /// that a rank of another host does calls it; so does a thread of the path while nobody else has for a while.
  virtual void progress() noexcept = 0;

  /// Why nothing may reach a rank, for reports: a sentence about "it". Empty: it has answered, or was not asked.
  [[nodiscard]] virtual std::string trouble_with(std::uint32_t /*rank*/) const { return {}; }

  /// Which host a rank of the job is on: equal for two of the same one.
  [[nodiscard]] virtual std::uint32_t host_of(std::uint32_t rank) const noexcept = 0;

  /// Where what comes is done.
  [[nodiscard]] virtual Delivery& delivery() noexcept = 0;
};

}  // namespace baton::comm
