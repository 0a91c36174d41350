// What a core reaches outside itself: the memory of its chip and the windows of its domains.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <baton/collective_types.hpp>
#include <baton/signal.hpp>

#include "base/checked_event.hpp"
#include "base/event.hpp"
#include "base/function_ref.hpp"
#include "base/parking.hpp"
#include "base/transfer.hpp"

struct BatonScatter;

namespace baton::chip {

class CheckedChip;

/// Who reaches an address besides the cores of this chip.
enum class Holder : std::uint8_t {
  chip,         // nobody: a buffer of this chip
  own_window,   // other ranks, but it belongs to this one
  peer_window,  // it belongs to another rank
};

/// A whole buffer, or a whole part of a window.
struct Extent {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;

  [[nodiscard]] bool holds(const void* first, std::size_t count) const noexcept {
    return count <= bytes && reinterpret_cast<std::uintptr_t>(first) - begin <= bytes - count;
  }
};

/// A kernel that has computed for long.
struct LongKernel {
  std::string what;   // "kernel 'spin' (task 7) on vector core 0.1"
  std::string where;  // "at spin.cpp:12 in spin"
  std::chrono::nanoseconds age{0};
};

/// A task whose kernel has returned, and that waits for a word of this chip.
struct DeferredWait {
  const std::int32_t* word;
  std::int32_t needs;
  std::string task;  // "kernel 'send' (task 7), which has returned"
  std::chrono::steady_clock::time_point since;
};

/// Passed to cores, so that they need not know of domains. Any thread may call any function.
class GlobalMemory {
 public:
  GlobalMemory() = default;
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;
  virtual ~GlobalMemory() = default;

  /// The rank of this chip in its job.
  [[nodiscard]] virtual int rank() const noexcept = 0;

  /// The buffer, or the part of a window, that holds [begin, begin + bytes).
  [[nodiscard]] virtual std::optional<Extent> extent_of(const void* begin, std::size_t bytes) const = 0;
  /// Whether there is one.
  [[nodiscard]] bool known(const void* begin, std::size_t bytes) const { return extent_of(begin, bytes).has_value(); }
  /// For messages: what lies closest to an address that is not known.
  [[nodiscard]] virtual std::string describe_nearest(const void* address) const = 0;
  /// Of an address that is known.
  [[nodiscard]] virtual Holder holder_of(const void* address) const = 0;
  /// Whether some windows have parts on other hosts, where no pointer reaches, and whether a known address is in one.
  [[nodiscard]] virtual bool has_far_memory() const noexcept { return false; }
  [[nodiscard]] virtual bool is_far(const void* /*address*/) const { return false; }
  /// Copies between known addresses. What goes to another host may be taken from the source only, and still be on its
  /// way: it is there with a later notification of this rank. Throws Error if it cannot be had or sent.
  virtual void copy(void* to, const void* from, std::size_t bytes) { std::memmove(to, from, bytes); }
  /// A copy to or from another host that goes on by itself. What it sends is there as with copy().
  [[nodiscard]] virtual std::unique_ptr<Transfer> start_far_copy(void* /*to*/, const void* /*from*/,
                                                                 std::size_t /*bytes*/) {
    return nullptr;
  }
  /// Changes elements on another host; as copy() there.
  virtual void add_far(void* /*to*/, Element /*element*/, const void* /*addends*/, std::size_t /*bytes*/) {}
  virtual void scatter_far(const BatonScatter& /*pieces*/) {}
  /// A name for a known address that does not depend on where memory happens to lie: `scratch[2]+64` for byte 64 of
  /// rank 2's part of a window, `x+64` for one of a buffer.
  [[nodiscard]] virtual std::string name_of(const void* address) const = 0;

  /// Changes a signal and wakes those that wait for it. A release. `from` is for events.
  virtual void notify(std::int32_t* signal, std::int32_t value, NotifyOp op, const EventSource& from) = 0;
  /// Returns when the comparison holds; throws Error otherwise. An acquire. On a fiber, only the fiber waits.
  virtual void wait(const std::int32_t* signal, WaitCmp comparison, std::int32_t value, const EventSource& from) = 0;
  [[nodiscard]] virtual bool test(const std::int32_t* signal, WaitCmp comparison, std::int32_t value,
                                  const EventSource& from) = 0;

  /// For `baton check`: what the activities of this chip do.
  [[nodiscard]] virtual CheckedChip& checked() noexcept = 0;
  /// Before rows of known memory are touched, and after a known word was seen to compare so.
  virtual void note_touch(const void* address, const CheckedRows& rows, CheckedUse use, const char* operation,
                          const EventSource& from) = 0;
  virtual void note_seen(const std::int32_t* word, WaitCmp comparison, std::int64_t value, const char* operation,
                         const EventSource& from) = 0;

  /// For traces: a task submitted at `where` has waited since `began` (ticks), without a core, for a known word of this
  /// rank to reach the value.
  virtual void note_deferral(const std::int32_t* /*word*/, std::int32_t /*needs*/, std::uint64_t /*began*/,
                             const Place& /*where*/) {}

  /// A number for a known word of this rank: every change of it says that something changed at this spot. Words of
  /// one cache line share it, and others may.
  [[nodiscard]] virtual std::uint64_t spot_of(const void* address) const = 0;
  /// `change` more words of this rank are waited for by nobody's thread: changes of them must be told.
  virtual void watch(const void* address, std::int32_t change) = 0;
  /// Whether there are spots that take_changes() would give.
  [[nodiscard]] virtual bool any_changes() const noexcept = 0;
  /// Calls `changed(spot)` for each spot where something changed since the last call.
  virtual void take_changes(FunctionRef<void(std::uint64_t)> changed) = 0;
  /// A word was changed by other means than notify(): the record of a copy, a flag that a kernel stored.
  virtual void tell_change(const void* address) = 0;
  /// Grows when ranks end.
  [[nodiscard]] virtual std::uint32_t deaths() const noexcept = 0;
  /// Throws Error (peer_died, peer_left) if nobody is left who could make the word reach the value.
  virtual void throw_if_hopeless(const std::int32_t* signal, std::int32_t value) const = 0;

  /// How long a wait for something of this chip may take before it is an error.
  [[nodiscard]] virtual std::chrono::nanoseconds wait_timeout() const noexcept = 0;
  /// How many threads of this chip can run at once beside the other ranks of the job.
  [[nodiscard]] virtual int processors() const noexcept = 0;
  /// Whether there are more ranks than processors: a rank that runs keeps others from running.
  [[nodiscard]] virtual bool outnumbers_processors() const = 0;
  /// Where fibers that wait for something of this chip sleep: every change rings this.
  [[nodiscard]] virtual ParkingPlace parking_place() const = 0;

  /// These compute now, and no others for long: for those who look at this chip from outside. One thread at a time.
  virtual void show_kernels(std::span<const LongKernel> /*kernels*/) noexcept {}
  /// Whether others can be shown a wait for this word.
  [[nodiscard]] virtual bool shows(const std::int32_t* /*word*/) const { return false; }
  /// These have been deferred for the longest, and `others` for long: for them, too. The next two are for the thread
  /// that shows them: when to look whether any rank can still end them, and to do so.
  virtual void show_deferred(std::span<const DeferredWait> /*oldest*/, std::size_t /*others*/) {}
  [[nodiscard]] virtual std::chrono::steady_clock::time_point next_look() const {
    return std::chrono::steady_clock::time_point::max();
  }
  virtual void look_at_others() {}
};

}  // namespace baton::chip
