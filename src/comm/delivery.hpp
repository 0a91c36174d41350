// What ranks of other hosts want done to this rank's memory: checked, then done as they would do it themselves if they
// could reach it. No address comes from outside: a message names a window, and an offset that is held against its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/event.hpp"
#include "base/futex.hpp"
#include "base/landing.hpp"
#include "comm/shared_memory.hpp"
#include "wire/control.hpp"
#include "wire/path_message.hpp"

namespace baton::comm {

/// A member of a window that is on another host.
struct FarMember {
  std::uint32_t member;
  std::uint32_t rank;  // of the job
};

/// This rank's part of a window, for others to reach.
struct ExposedPart {
  std::shared_ptr<SharedMemory> memory;  // the segment
  std::byte* part = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t tag = 0;  // of the window, on the board of arrivals
  std::vector<FarMember> far;
  TextId name = 0;  // of the window
};

/// Any thread may call any function.
class Delivery {
 public:
  /// Signals ring the doorbell of `rank` in `control`.
  Delivery(wire::ControlHeader& control, std::uint32_t rank, FutexScope scope) noexcept
      : control_(control), rank_(rank), scope_(scope) {}

  /// Before any other rank can know of the window.
  void expose(wire::AllocationKey window, ExposedPart part);
  /// Nobody reaches it any more.
  void withdraw(wire::AllocationKey window) noexcept;
  /// This rank has released the window. Members of other hosts reach its part until they have released it, too, or are
  /// gone; that is looked at when a window comes or goes.
  void retire(wire::AllocationKey window) noexcept;

  /// Memory that stays while this object does.
  struct Place {
    std::byte* address = nullptr;
    std::shared_ptr<SharedMemory> memory;
    std::uint64_t bytes = 0;  // from there to the end of the part
    bool is_outside = false;  // there is such a window, but it does not have these bytes
  };
  /// Where `bytes` from `offset` of this rank's part lie; no address if there is no such window, as after its release,
  /// or they are outside.
  [[nodiscard]] Place find(wire::AllocationKey window, std::uint64_t offset, std::uint64_t bytes);

  /// The next put to exactly these bytes of a window goes to `target`: it is copied once less. One that is
  /// fetched, as large ones are, goes where it was put.
  [[nodiscard]] std::unique_ptr<Landing> land(wire::AllocationKey window, std::uint64_t offset,
                                              std::span<std::byte> target);

  enum class Copied : std::uint8_t { yes, no_window, outside };
  /// To where find() would find them. Takes no part in who owns the memory, which costs more than a few bytes do.
  [[nodiscard]] Copied copy_in(wire::AllocationKey window, std::uint64_t offset, std::span<const std::byte> bytes);

  /// Changes a signal as `message` says and wakes those that wait for it. Releases what was written before; pairs with
  /// the loads of waiters. False if there is no such signal.
  [[nodiscard]] bool change_signal(const wire::PathHeader& message);

  /// Adds the payload of `message` to elements. False if there are no such elements; those of a window that this rank
  /// has released need no sum.
  [[nodiscard]] bool add(const wire::PathHeader& message, std::span<const std::byte> addends);
  /// Puts the pieces of `message` where they belong, in their order; as add().
  [[nodiscard]] bool scatter(const wire::PathHeader& message, std::span<const std::byte> pieces);

  /// How many posts are kept for those who will listen.
  [[nodiscard]] std::size_t kept_posts();
  /// How many windows others reach that this rank has released.
  [[nodiscard]] std::size_t retired_parts();

  /// Called with what comes under a topic, one call at a time. Must not call back.
  using Listener = std::function<void(std::uint32_t source, std::span<const std::byte> bytes)>;
  /// From now on `listener` gets what comes under `topic`, beginning with what came before.
  void listen(wire::AllocationKey topic, Listener listener);
  /// When it returns nobody is called any more. What still comes under this topic, and under earlier ones of its
  /// domain, is dropped: topics of a domain end in their order.
  void stop_listening(wire::AllocationKey topic) noexcept;
  /// Hands a post over, or keeps it until somebody listens. Drops it if somebody did.
  void deliver(wire::AllocationKey topic, std::uint32_t source, std::span<const std::byte> bytes);

 private:
  class Target;
  struct Letter {
    std::uint32_t source;
    std::vector<std::byte> bytes;
  };

  /// One that has been changed.
  struct Signal {
    std::uint64_t tag;  // of its window
    TextId name;        // of its window
    std::int32_t after;
  };

  [[nodiscard]] std::optional<Signal> change_word(const wire::PathHeader& message, std::uint64_t bytes);
  /// Others learn from the segment that a member of another host has released it.
  void note_release(std::uint32_t source, std::span<const std::byte> bytes);
  /// These under the lock.
  void drop_retired() noexcept;
  [[nodiscard]] const ExposedPart* part_of(wire::AllocationKey window) const noexcept;
  /// Where it is to be copied that comes for `address`.
  [[nodiscard]] std::byte* target_of(wire::AllocationKey window, std::uint64_t offset, std::size_t bytes,
                                     std::byte* address) noexcept;
  [[nodiscard]] bool is_over(wire::AllocationKey topic) const noexcept;

  wire::ControlHeader& control_;
  std::uint32_t rank_;
  FutexScope scope_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<wire::AllocationKey, ExposedPart> parts_;
  std::map<wire::AllocationKey, ExposedPart> retired_;
  std::vector<Target*> targets_;
  std::map<wire::AllocationKey, Listener> listeners_;
  std::map<wire::AllocationKey, std::vector<Letter>> early_;
  std::map<std::uint64_t, std::uint64_t> over_;  // by domain: its last topic that somebody has stopped listening to
};

}  // namespace baton::comm
