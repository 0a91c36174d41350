// The Mover of host programs: works on the scratch window of a domain and on windows that are mapped here.
//
// Every word that is waited for only grows. A rank numbers its calls, its meetings and its rounds; all members have the
// same numbers because they make the same calls, and each call compares what they called.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <baton/domain.hpp>
#include <baton/error.hpp>

#include "base/fences.hpp"
#include "collectives/call.hpp"
#include "collectives/memory_mover.hpp"
#include "collectives/mover.hpp"
#include "collectives/scratch.hpp"
#include "collectives/selection.hpp"

namespace baton::collectives {

/// Of a call of an operation, all that its plan depends on.
struct Shape {
  std::uint64_t count = 0;
  Element element = Element::uint8;
  Algorithm asked = Algorithm::automatic;
  bool input_in_window = false;
  bool output_in_window = false;
  bool one_buffer = false;  // input and output are the same

  friend bool operator==(const Shape&, const Shape&) = default;
};

/// How calls of a shape are made.
struct Plan {
  Shape shape;
  /// Null: there is no plan yet.
  const AlgorithmInfo* algorithm = nullptr;
  /// A rank's whole contribution: what it would put into a slot.
  std::size_t bytes = 0;
  /// The algorithm works on the windows themselves.
  bool direct = false;
};

/// The words of errors for members that the caller knows by other numbers.
struct RankNames {
  std::string domain;
  std::vector<int> ranks;  // by member
};

class HostMover final : public Mover {
 public:
  /// Collective over the domain, whose members are all of this host: allocates the scratch window.
  explicit HostMover(Domain domain, std::optional<StagingRing> ring = std::nullopt,
                     PeerMemory::Within within = PeerMemory::Within::processor,
                     const std::optional<RankNames>& names = std::nullopt);
  /// From now on long waits call this, too: it throws if what members wait for will not come.
  void look_further(std::function<void()> look) { look_further_ = std::move(look); }

  /// Begins the next call. `contribution_bytes` is what each offer() of it will have, at most.
  void begin(const Call& call, std::uint64_t details, std::size_t contribution_bytes, std::chrono::nanoseconds timeout);
  /// How many bytes all ranks together read and write in this call: whether what copy() writes is worth a place in
  /// caches.
  void expect_traffic(std::size_t bytes);
  /// Ends it. Without it nothing may follow: a call that threw leaves the ranks apart.
  void end();
  /// Instead: what memory of this rank others know of is its own again. Returns a rank, if there is one, that is in the
  /// middle of writing there and does not go on; it may, later.
  [[nodiscard]] std::optional<int> give_up(Code code) noexcept;
  /// For ranks that have read memory of others in this call, which those keep only until they return. Throws if one of
  /// them has given the call up, and may have changed it before it was read.
  void check_kept() const {
    order_loads();
    // Pairs with the one in give_up(), which is ordered before what that rank writes afterwards.
    if (is_given_up(first_given_up().load(std::memory_order_relaxed))) [[unlikely]]
      throw_given_up();
  }
  /// Steps count from 0 again.
  void begin_round() noexcept;
  /// That of the last call of an operation: most programs repeat it.
  [[nodiscard]] Plan& last_plan(Operation operation) noexcept {
    return last_plan_[static_cast<std::size_t>(operation)];
  }
  /// Where the half of the staging area begins that may be written now; `bytes`, at most a half, will be. All members
  /// have to meet before the next use but one.
  [[nodiscard]] std::size_t next_staging(std::size_t bytes);
  /// The bytes of a half.
  [[nodiscard]] std::size_t staging_bytes() const noexcept { return layout_.staging_bytes; }
  /// Begins a call in which ranks use their staging areas as rings. When it returns, the one of who `gives` is free.
  void begin_stream(bool gives);
  [[nodiscard]] const StagingRing& ring() const noexcept { return ring_; }
  /// With which piece of the ring this call begins.
  [[nodiscard]] std::uint64_t first_piece() const noexcept { return calls_ % kPlaces; }
  [[nodiscard]] std::byte* staging(int rank) const noexcept {
    return parts_[static_cast<std::size_t>(rank)] + layout_.staging;
  }
  [[nodiscard]] const std::vector<std::byte*>& parts() const noexcept { return parts_; }
  /// For data anywhere, where all members reach all memory of all.
  /// For `baton check`: what this call reads without copy() and reduce().
  void note_read(const std::byte* from, std::size_t bytes) const {
    if (checked_) [[unlikely]]
      scratch_.note_read(from, bytes, {}, operation_);
  }

  [[nodiscard]] MemoryMover& memory() noexcept { return memory_; }
  [[nodiscard]] const MemoryMover& memory() const noexcept { return memory_; }

  [[nodiscard]] std::byte* room() override;
  void announce() override;
  void wait_announced(int peer) override;
  void all_announced() override { all_have_begun_ = true; }
  [[nodiscard]] const std::byte* contribution(int peer) const override;
  [[nodiscard]] bool arrive() override;
  void release() override;
  void wait_released() override;
  [[nodiscard]] std::byte* common() override;
  void step() override;
  void wait_step(int peer, std::uint64_t steps) override;
  [[nodiscard]] bool has_made(int peer, std::uint64_t steps) const override;
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) override;
  void reduce(std::byte* to, std::span<const std::byte* const> from, std::size_t count, Element element, ReduceOp op,
              std::uint32_t divisor) override;

  /// Messages; see messages.cpp.
  void send(int to, const std::byte* data, std::size_t bytes, std::uint64_t fingerprint,
            std::chrono::nanoseconds timeout);
  void receive(int from, std::byte* data, std::size_t bytes, std::uint64_t fingerprint,
               std::chrono::nanoseconds timeout);

 private:
  /// It uses lines of the scratch window, and says what others gave up, as this class does.
  friend class MemoryMover;
  [[nodiscard]] std::uint64_t call_number() const noexcept { return calls_; }
  template <class T>
  [[nodiscard]] T& at(int rank, std::size_t offset) const {
    return *reinterpret_cast<T*>(parts_[static_cast<std::size_t>(rank)] + offset);
  }
  [[nodiscard]] static std::size_t record_offset(std::uint64_t call) noexcept {
    return Layout::kRecordsAt + (call % kRecords) * sizeof(RecordLine);
  }
  [[nodiscard]] std::size_t record_offset() const noexcept { return record_offset(calls_); }
  [[nodiscard]] std::byte* slot_of(int rank, std::uint64_t call) const noexcept {
    return parts_[static_cast<std::size_t>(rank)] + layout_.contributions + (call % kRecords) * kSlotBytes;
  }
  /// In the middle of long work: throws if a member has died.
  void look_up() const { scratch_.check_members(); }
  /// After as many bytes a rank that copies or calculates does so: the death of another ends a call within 100 ms,
  /// whatever its size. A block takes about a millisecond.
  static constexpr std::size_t kBlockBytes = std::size_t{4} * 1024 * 1024;
  [[nodiscard]] bool is_in_scratch(const std::byte* address) const noexcept {
    return address >= parts_.front() && address < parts_.back() + layout_.bytes;
  }
  /// Others have read what this rank writes in the next call: the lines come back while it waits, or does other things.
  void fetch_for_next_call() const noexcept;
  /// Waits until the word at `offset` of `owner` has `value`, and meanwhile looks whether the others called the same.
  void wait_word(int owner, std::size_t offset, std::uint64_t value, Needed needed) {
    // Pairs with the store in RawWindow::advance().
    const std::atomic_ref word(at<std::uint64_t>(owner, offset));
    if (word.load(std::memory_order_acquire) < value) {
      wait_longer(owner, offset, value, needed);
    } else if (checked_) [[unlikely]] {
      note_seen(owner, offset, value);
    }
  }
  /// For `baton check`: what wait_reached() would tell it.
  void note_seen(int owner, std::size_t offset, std::uint64_t value) const {
    scratch_.note_seen(owner, offset, WaitCmp::ge, static_cast<std::int64_t>(value));
  }
  /// From now on accesses are of a call of this name.
  void watch(const char* operation) noexcept {
    checked_ = RawWindow::is_checked();
    operation_ = operation;
  }
  void note_reads(std::span<const std::byte* const> from, std::size_t bytes) const;
  void note_write(const std::byte* to, std::size_t bytes) const {
    if (checked_) [[unlikely]]
      scratch_.note_write(to, bytes, {}, operation_);
  }
  void wait_longer(int owner, std::size_t offset, std::uint64_t value, Needed needed);
  /// Shows that this rank has begun this call, and what it called; at the latest before it waits for anything.
  void record();
  /// The same but for the word that says so; false if it was done before.
  [[nodiscard]] bool fill_record() noexcept;
  /// Waits until all members have finished `call`: until they have begun the one after it.
  void wait_finished(std::uint64_t call);
  /// Waits until `peer` has begun `call`, and returns the last one that it is known to have begun.
  [[nodiscard]] std::uint64_t wait_begun(int peer, std::uint64_t call);
  /// Whether the record of `peer` is of this call, and of the same one.
  [[nodiscard]] bool agrees(int peer) const noexcept {
    auto& record = at<RecordLine>(peer, record_offset());
    using Word = std::atomic_ref<std::uint64_t>;
    // Pairs with the stores in record() and announce().
    return call_in(Word(record.state).load(std::memory_order_acquire)) == calls_ &&
           Word(record.fingerprint).load(std::memory_order_relaxed) == fingerprint_ &&
           Word(record.history).load(std::memory_order_relaxed) == history_;
  }
  void check_agreement(int peer) {
    if (!agrees(peer)) [[unlikely]]
      disagree_with(peer);
  }
  [[noreturn]] void disagree_with(int peer);
  /// Throws if another rank is known to have made another call than this one, or than a third.
  void look_around() const;
  [[noreturn]] void throw_mismatch(int a, int b) const;
  /// The number of a member in errors.
  [[nodiscard]] int number(int rank) const noexcept { return names_.ranks[static_cast<std::size_t>(rank)]; }
  /// Whether somebody gave this call, or one before it, up.
  [[nodiscard]] bool is_given_up(std::uint64_t first) const noexcept { return WriteGate::is_closed(first, calls_); }
  [[nodiscard]] WriteGate::Word& first_given_up() const { return at<GivenUpLine>(0, Layout::kGivenUpAt).first; }
  [[noreturn]] void throw_given_up() const;
  /// Throws if a member has died, be it the one whose death made `peer` give this call up.
  void look_for_a_death(int peer) const;
  /// The first of the last calls that both made, but not alike; 0: there is none. Ranks that lost each other are
  /// further apart by now.
  [[nodiscard]] std::uint64_t first_disagreement(int a, int b) const;
  [[nodiscard]] std::string describe_record(int peer, std::uint64_t call) const;
  void wait_message(int partner, std::size_t offset, std::uint64_t value, std::chrono::nanoseconds timeout);

  Layout layout_;
  StagingRing ring_;
  RankNames names_;
  std::function<void()> look_further_;
  RawWindow scratch_;
  std::vector<std::byte*> parts_;
  MemoryMover memory_;
  std::uint64_t calls_ = 0;
  /// The last one that ended.
  std::uint64_t ended_ = 0;
  std::uint64_t meetings_ = 0;
  /// How many had not arrived at the last one when this rank did.
  std::uint64_t missing_ = 0;
  std::uint64_t rounds_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t staged_ = 0;
  /// The last call that used this rank's staging area, and the last ones of streams: any, and one in which it gave.
  std::uint64_t staged_in_ = 0;
  std::uint64_t streamed_in_ = 0;
  std::uint64_t gave_in_ = 0;
  /// All members are known to have finished this call, and each to have begun that one; this rank any.
  std::uint64_t finished_by_all_ = 0;
  std::vector<std::uint64_t> begun_;
  /// The record has been filled.
  bool is_recorded_ = false;
  bool past_caches_ = false;
  /// `baton check` wants to know what this call does.
  bool checked_ = false;
  const char* operation_ = "a collective";
  std::size_t contribution_bytes_ = 0;
  std::array<Plan, kOperations> last_plan_;
  std::uint64_t fingerprint_ = 0;
  /// A hash of this call and all before it, with what a fingerprint does not hold. In a call that some ranks leave
  /// before others have looked at theirs, nobody may notice a disagreement: in the next one somebody does.
  std::uint64_t history_ = 0;
  std::chrono::nanoseconds timeout_{0};
  /// Every member knows that every member has begun this call, and so has finished the one before.
  bool all_have_begun_ = false;
  std::vector<std::uint64_t> chunks_sent_;
  std::vector<std::uint64_t> chunks_received_;
};

}  // namespace baton::collectives
