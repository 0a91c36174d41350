// What is behind a window handle: one rank's view of a segment, and the one-sided operations on it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <baton/comm_context.h>
#include <baton/signal.hpp>

#include "comm/checked_accesses.hpp"
#include "comm/domain_state.hpp"
#include "comm/shared_memory.hpp"

namespace baton::comm {

/// A part of a window that has a name of its own, in each rank's part.
struct NamedBuffer {
  std::string name;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class WindowState {
 public:
  /// Collective over `domain`.
  WindowState(std::shared_ptr<DomainState> domain, std::string name, std::uint64_t bytes);
  WindowState(const WindowState&) = delete;
  WindowState& operator=(const WindowState&) = delete;
  ~WindowState();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// A wait for a signal of this rank, without its times.
  [[nodiscard]] WaitDescription describe_wait(std::size_t offset, WaitCmp comparison, std::int32_t value) const;
  [[nodiscard]] DomainState& domain() const noexcept { return *domain_; }
  [[nodiscard]] const CommContext* context() const;

  /// Throws for a rank of another host, of which there is only an address.
  [[nodiscard]] std::byte* part(int rank) const;
  /// Of the part of `rank`, wherever that is: for contexts.
  [[nodiscard]] std::uint64_t address_of(int rank) const {
    return reinterpret_cast<std::uint64_t>(checked("address_of", rank, 0, 0));
  }
  /// Whether loads and stores reach the part of `rank`.
  [[nodiscard]] bool is_mapped(int rank) const;
  [[nodiscard]] bool is_local(const void* address, std::size_t count) const;
  void put(int peer, std::size_t offset, const void* source, std::size_t count, const Place& where) const;
  void get(int peer, std::size_t offset, void* target, std::size_t count, const Place& where) const;
  /// put() and get() of a peer on another host, for kernels: their instructions are recorded where they are issued.
  void send(int peer, std::size_t offset, const void* source, std::size_t count) const;
  void fetch(int peer, std::size_t offset, void* target, std::size_t count) const;
  /// Adds `count` bytes of elements to those there.
  void send_sum(int peer, std::size_t offset, Element element, const void* addends, std::size_t count) const;
  /// send() and fetch() that go on by themselves.
  [[nodiscard]] std::unique_ptr<Transfer> start_send(int peer, std::size_t offset, const void* source,
                                                     std::size_t count) const;
  [[nodiscard]] std::unique_ptr<Transfer> start_fetch(int peer, std::size_t offset, void* target,
                                                      std::size_t count) const;
  /// Changes elements at places around `offset`.
  void send_pieces(int peer, std::size_t offset, const FarPieces& pieces) const;
  void notify(int peer, std::size_t offset, std::int32_t value, NotifyOp op, const EventSource& from) const;
  /// put, then notify of a signal in `signals`, a window of the same domain.
  void put_signal(int peer, std::size_t offset, const void* source, std::size_t count, const WindowState& signals,
                  std::size_t signal_offset, std::int32_t value, NotifyOp op, const Place& where) const;
  /// The signal may be any member's, though notifies wake its owner first of all.
  void wait(int owner, std::size_t offset, WaitCmp comparison, std::int32_t value, std::chrono::nanoseconds timeout,
            const EventSource& from) const;
  [[nodiscard]] bool test(int owner, std::size_t offset, WaitCmp comparison, std::int32_t value,
                          const EventSource& from) const;
  /// For traces: since `began` (ticks) a task has waited for the signal to reach the value, and now it has.
  void record_deferral(std::uint64_t began, int owner, std::size_t offset, std::int32_t value,
                       const Place& where) const;

  /// See RawWindow.
  void advance(int owner, std::size_t offset, std::uint64_t value) const;
  void wait_reached(int owner, std::size_t offset, std::uint64_t value, Needed needed,
                    std::chrono::nanoseconds timeout) const;
  [[nodiscard]] bool reaches_within(int owner, std::size_t offset, std::uint64_t value, Needed needed,
                                    std::chrono::nanoseconds timeout) const;
  void put_advance(int peer, std::size_t offset, const void* source, std::size_t count, std::size_t word,
                   std::uint64_t value) const;
  [[nodiscard]] std::unique_ptr<Transfer> start_put_advance(int peer, std::size_t offset, const void* source,
                                                            std::size_t count, std::size_t word,
                                                            std::uint64_t value) const;
  void finish(Transfer& transfer) const { path_->finish(transfer); }
  [[nodiscard]] std::unique_ptr<Landing> land(std::size_t offset, std::span<std::byte> target) const;
  [[nodiscard]] bool is_told_within(int from, std::size_t offset, std::uint64_t value,
                                    std::chrono::nanoseconds timeout) const;

  /// For `baton check`.
  [[nodiscard]] CheckedPart checked_part(int owner) const noexcept {
    return {domain_->world().rank(), event_text_, checked_number_, member(owner)};
  }

  [[nodiscard]] std::string activity_of(int rank) const;

  /// From now on messages name signals in these buffers by them. Before anybody waits.
  void name_buffers(std::vector<NamedBuffer> buffers) const { buffers_ = std::move(buffers); }

  /// Throws peer_died or peer_left if nobody is left who could make the comparison hold.
  void throw_if_hopeless(int owner, std::size_t offset, WaitCmp comparison, std::int32_t value) const;
  /// Where the board of its rank shows a change of the signal.
  [[nodiscard]] std::uint32_t arrival_spot(std::size_t offset) const noexcept {
    return wire::arrival_spot(tag_, offset);
  }

  void release() noexcept;

 private:
  /// Whether the part of `rank`, which was checked, is on another host.
  [[nodiscard]] bool is_far(int rank) const noexcept {
    return path_ != nullptr && domain_->groups().is_far(static_cast<std::uint32_t>(rank));
  }
  [[nodiscard]] FarPlace far_place(int rank, std::size_t offset) const noexcept { return {member(rank), key_, offset}; }
  [[nodiscard]] Deadline far_deadline() const noexcept { return Deadline::within(domain_->world().wait_timeout()); }
  [[noreturn]] void throw_far(const char* what, int rank) const;
  /// What notify() does: here, or by the path to the other host. Returns the new value as far as it is known.
  std::int32_t change_signal(std::atomic_ref<std::int32_t> target, int peer, std::size_t offset, std::int32_t value,
                             NotifyOp op) const;
  /// A wait for a signal, without its times.
  [[nodiscard]] EventRecord wait_event(EventKind kind, int owner, std::size_t offset, WaitCmp comparison,
                                       std::int32_t value, const EventSource& from) const;
  /// For the reports of others, and as an event. After the change, when others go on already.
  void record_notify(std::uint64_t began, int peer, std::size_t offset, std::int32_t value, std::int32_t after,
                     const EventSource& from) const;
  /// It counts no longer as a window of the job.
  void sign_off() noexcept;
  /// Members of other hosts hear of the release, and may still reach this part until they have released theirs.
  void tell_release() noexcept;
  [[noreturn]] void throw_released(const char* what) const;
  /// The address of bytes of a rank's part: of a window that was not released, and inside it.
  [[nodiscard]] std::byte* checked(const char* what, int rank, std::size_t offset, std::size_t count) const {
    const bool inside = segment_ != nullptr && rank >= 0 && static_cast<std::uint32_t>(rank) < domain_->size() &&
                        count <= bytes_ && offset <= bytes_ - count;
    if (!inside) [[unlikely]]
      throw_outside(what, rank, offset, count);
    return first_part_ + static_cast<std::size_t>(rank) * stride_ + offset;
  }
  /// Says which of it does not hold.
  [[noreturn]] void throw_outside(const char* what, int rank, std::size_t offset, std::size_t count) const;
  [[nodiscard]] std::atomic_ref<std::int32_t> signal(const char* what, int rank, std::size_t offset) const;
  [[nodiscard]] std::atomic_ref<std::uint64_t> growing_word(const char* what, int owner, std::size_t offset) const;
  /// reaches_within() without a word to `baton check`.
  [[nodiscard]] bool reach(int owner, std::size_t offset, std::uint64_t value, Needed needed,
                           std::chrono::nanoseconds timeout) const;
  void note_waited(int owner, std::size_t offset, WaitCmp comparison, std::int32_t value,
                   const EventSource& from) const {
    if (is_checked()) note_seen(checked_part(owner), offset, sizeof value, comparison, value, "wait", from);
  }
  [[nodiscard]] WaitDescription describe_reaching(int owner, Needed needed) const;
  void record_copy(EventKind kind, std::uint64_t began, int peer, std::size_t offset, std::size_t count) const noexcept;
  [[nodiscard]] std::uint32_t member(int rank) const noexcept {
    return domain_->members()[static_cast<std::size_t>(rank)];
  }
  [[noreturn]] void throw_wait_timeout(int owner, std::size_t offset, WaitCmp comparison, std::int32_t value,
                                       std::int32_t has, std::chrono::nanoseconds waited) const;

  std::shared_ptr<DomainState> domain_;
  std::string name_;
  TextId event_text_;
  std::uint64_t checked_number_ = 0;  // for `baton check`
  std::uint64_t bytes_;
  std::uint64_t tag_ = 0;
  wire::AllocationKey key_{};
  /// To members of other hosts; null if there are none.
  Path* path_ = nullptr;
  /// Empty once the window was released.
  std::shared_ptr<SharedMemory> segment_;
  /// After the release: the addresses, without memory.
  std::shared_ptr<SharedMemory> remains_;
  mutable std::vector<NamedBuffer> buffers_;  // for messages alone
  std::byte* first_part_;
  std::uint64_t stride_;
  /// A CommContext, or a CommContextLarge for more ranks than that holds.
  std::vector<std::uint64_t> context_;
};

}  // namespace baton::comm
