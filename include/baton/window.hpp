// Windows: the same number of bytes on every rank of a domain, reachable by all of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include <baton/comm_context.h>
#include <baton/export.hpp>
#include <baton/place.hpp>
#include <baton/signal.hpp>

namespace baton {

class Domain;
class Landing;   // where bytes go in place of where they are put
class Transfer;  // bytes on their way, by themselves

namespace comm {
class WindowState;
}

/// A window as bytes. A handle: copies refer to the same window, which is unmapped with the last of them.
/// Offsets count bytes from the start of a rank's part. All operations check their ranges.
class BATON_API RawWindow {
 public:
  RawWindow() = default;
  explicit RawWindow(std::shared_ptr<comm::WindowState> state) : state_(std::move(state)) {}

  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const std::string& name() const;
  /// Whether it is a window of this very domain, not of one with the same members.
  [[nodiscard]] bool belongs_to(const Domain& domain) const noexcept;

  /// The part of `rank`, mapped in this process. Of a rank of another host there is none: an error that names it.
  [[nodiscard]] std::byte* part(int rank) const;
  /// Whether there is one: the rank is of this host. put, get and notify reach all ranks.
  [[nodiscard]] bool is_mapped(int rank) const;
  /// This rank's own part.
  [[nodiscard]] std::byte* local() const;
  /// Whether these bytes lie in it.
  [[nodiscard]] bool is_local(const void* address, std::size_t count_bytes) const;

  /// Copies to, or from, `peer`'s part. When it returns the bytes at `source` may change; those at `target` are there.
  /// A put is visible to `peer` after a notify of it that follows, or a barrier.
  void put(int peer, std::size_t offset, const void* source, std::size_t count_bytes,
           Place where = Place::here()) const;
  void get(int peer, std::size_t offset, void* target, std::size_t count_bytes, Place where = Place::here()) const;

  /// put, then notify of the signal at `signal_offset` in `signals`, which a waiter sees after the bytes.
  void put_signal(int peer, std::size_t offset, const void* source, std::size_t count_bytes, const RawWindow& signals,
                  std::size_t signal_offset, std::int32_t value = 1, NotifyOp op = NotifyOp::add,
                  Place where = Place::here()) const;

  /// Changes the signal at `offset` in `peer`'s part and wakes those that wait for it. A release: a rank that observes
  /// it observes all that this rank wrote before.
  void notify(int peer, std::size_t offset, std::int32_t value = 1, NotifyOp op = NotifyOp::add,
              Place where = Place::here()) const;

  /// Blocks until the comparison holds for the signal at `offset` in this rank's part, or throws: wait_timeout at the
  /// deadline (Options::wait_timeout unless given), peer_died within 100 ms of when the system reports a member's
  /// death. An acquire.
  void wait(std::size_t offset, WaitCmp comparison, std::int32_t value, Place where = Place::here()) const;
  void wait(std::size_t offset, WaitCmp comparison, std::int32_t value, std::chrono::nanoseconds timeout,
            Place where = Place::here()) const;

  /// Asks once. An acquire if it holds.
  [[nodiscard]] bool test(std::size_t offset, WaitCmp comparison, std::int32_t value,
                          Place where = Place::here()) const;

  /// For 64-bit words that only grow. advance() stores `value` in the word at `offset` of `owner`'s part and wakes
  /// those that wait for it; a release. wait_reached() blocks until the word is at least `value`, or throws:
  /// wait_timeout, peer_died as soon as any member is dead, peer_left as soon as one that is `needed` has left; an
  /// acquire.
  void advance(int owner, std::size_t offset, std::uint64_t value) const;
  void wait_reached(int owner, std::size_t offset, std::uint64_t value, Needed needed,
                    std::chrono::nanoseconds timeout) const;
  /// The same, but false at the deadline.
  [[nodiscard]] bool reaches_within(int owner, std::size_t offset, std::uint64_t value, Needed needed,
                                    std::chrono::nanoseconds timeout) const;
  /// put, then advance() of the word at `word` of the same part, which a waiter sees after the bytes.
  void put_advance(int peer, std::size_t offset, const void* source, std::size_t count_bytes, std::size_t word,
                   std::uint64_t value) const;
  /// The same, which goes on by itself: until finish() returns the bytes at `source` must not change. Null if they may
  /// change at once.
  [[nodiscard]] std::unique_ptr<Transfer> start_put_advance(int peer, std::size_t offset, const void* source,
                                                            std::size_t count_bytes, std::size_t word,
                                                            std::uint64_t value) const;
  void finish(Transfer& transfer) const;
  /// While the result lives, what a rank of another host puts to exactly these bytes of this rank's own part, in one
  /// piece, may lie at `target` instead; `target` must not be touched until then. Null if there are no other hosts.
  [[nodiscard]] std::unique_ptr<Landing> land(std::size_t offset, void* target, std::size_t count_bytes) const;
  /// Blocks until the word at `offset` of this rank's own part, which `from` advances, is at least `value`; false at
  /// the deadline. Throws peer_died as soon as any member is dead, peer_left as soon as `from` has left. An acquire.
  [[nodiscard]] bool is_told_within(int from, std::size_t offset, std::uint64_t value,
                                    std::chrono::nanoseconds timeout) const;

  /// For `baton check`, which does not see loads and stores through pointers: this rank is about to read, or write,
  /// these bytes of any window of its job. Nothing happens unless it runs.
  void note_read(const void* address, std::size_t count_bytes, Place where = Place::here(),
                 const char* what = "load") const;
  void note_write(const void* address, std::size_t count_bytes, Place where = Place::here(),
                  const char* what = "store") const;
  /// The same for 64-bit words of this window that are changed and looked at by other means than advance(): it is about
  /// to change, and it was seen to compare so.
  void note_change(int owner, std::size_t offset, NotifyOp op, std::int64_t value) const;
  void note_seen(int owner, std::size_t offset, WaitCmp comparison, std::int64_t value) const;
  /// Whether anybody wants to know.
  [[nodiscard]] static bool is_checked() noexcept;

  /// What a member does now, for reports: "rank 3 (pid 4711) is running".
  [[nodiscard]] std::string activity_of(int rank) const;

  /// For code that works for long without a wait: throws peer_died if a member of the domain is dead.
  void check_members() const;

  /// What kernels receive. Lives as long as the window.
  [[nodiscard]] const CommContext* context() const;

  /// Gives this rank's view up now. Peers keep theirs. Every later call through any copy throws `released`; pointers
  /// that were taken before (data(), begin(), part(), peer()) must not be used any more. Where ranks are processes such
  /// a use ends the process with SIGSEGV: the addresses stay reserved, without memory, until the last copy is gone, so
  /// that it cannot hit something else. Ranks of one process share the memory, which stays until all have released it.
  void release();

 protected:
  /// The offset of element `index`; one too large to be expressed is outside of every window.
  [[nodiscard]] static std::size_t offset_of(std::size_t index, std::size_t element_bytes) noexcept {
    return index > SIZE_MAX / element_bytes ? SIZE_MAX : index * element_bytes;
  }

 private:
  [[nodiscard]] comm::WindowState& state() const;
  std::shared_ptr<comm::WindowState> state_;
};

/// A window of signals, addressed by index.
class Signals : public RawWindow {
 public:
  Signals() = default;
  Signals(RawWindow window, std::size_t count) : RawWindow(std::move(window)), count_(count) {}

  [[nodiscard]] std::size_t size() const noexcept { return count_; }

  void notify(int peer, std::size_t index, std::int32_t value = 1, NotifyOp op = NotifyOp::add,
              Place where = Place::here()) const {
    RawWindow::notify(peer, offset_of(index, sizeof(std::int32_t)), value, op, where);
  }
  void wait(std::size_t index, WaitCmp comparison, std::int32_t value, Place where = Place::here()) const {
    RawWindow::wait(offset_of(index, sizeof(std::int32_t)), comparison, value, where);
  }
  void wait(std::size_t index, WaitCmp comparison, std::int32_t value, std::chrono::nanoseconds timeout,
            Place where = Place::here()) const {
    RawWindow::wait(offset_of(index, sizeof(std::int32_t)), comparison, value, timeout, where);
  }
  [[nodiscard]] bool test(std::size_t index, WaitCmp comparison, std::int32_t value,
                          Place where = Place::here()) const {
    return RawWindow::test(offset_of(index, sizeof(std::int32_t)), comparison, value, where);
  }

 private:
  std::size_t count_ = 0;
};

/// A window of `T`: a range over this rank's own part.
template <class T>
class Window : public RawWindow {
  static_assert(std::is_trivially_copyable_v<T>, "other processes read these bytes as they are");

 public:
  Window() = default;
  Window(RawWindow window, std::size_t count)
      : RawWindow(std::move(window)), data_(reinterpret_cast<T*>(local())), count_(count) {}

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] T* begin() const noexcept { return data_; }
  [[nodiscard]] T* end() const noexcept { return data_ + count_; }
  [[nodiscard]] T& operator[](std::size_t i) const noexcept { return data_[i]; }

  /// The part of `rank`, which is of this host, for direct loads and stores.
  [[nodiscard]] std::span<T> peer(int rank) const { return {reinterpret_cast<T*>(part(rank)), count_}; }

  /// As above, in elements: several, or one.
  void put(int peer, std::size_t first, std::span<const T> source, Place where = Place::here()) const {
    RawWindow::put(peer, offset_of(first, sizeof(T)), source.data(), source.size_bytes(), where);
  }
  void get(int peer, std::size_t first, std::span<T> target, Place where = Place::here()) const {
    RawWindow::get(peer, offset_of(first, sizeof(T)), target.data(), target.size_bytes(), where);
  }
  void put_signal(int peer, std::size_t first, std::span<const T> source, const Signals& signals, std::size_t index,
                  std::int32_t value = 1, NotifyOp op = NotifyOp::add, Place where = Place::here()) const {
    RawWindow::put_signal(peer, offset_of(first, sizeof(T)), source.data(), source.size_bytes(), signals,
                          offset_of(index, sizeof(std::int32_t)), value, op, where);
  }
  void put(int peer, std::size_t first, const T& element, Place where = Place::here()) const {
    put(peer, first, std::span(&element, 1), where);
  }
  void put_signal(int peer, std::size_t first, const T& element, const Signals& signals, std::size_t index,
                  std::int32_t value = 1, NotifyOp op = NotifyOp::add, Place where = Place::here()) const {
    put_signal(peer, first, std::span(&element, 1), signals, index, value, op, where);
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace baton
