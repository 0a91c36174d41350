// What is behind a Domain handle: the members, their barrier, and the waits that end when one of them dies.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <baton/domain.hpp>

#include "base/deadline.hpp"
#include "base/function_ref.hpp"
#include "comm/attachments.hpp"
#include "comm/far_barrier.hpp"
#include "comm/host_groups.hpp"
#include "comm/wait_record.hpp"
#include "comm/world.hpp"
#include "wire/segment.hpp"

namespace baton::comm {

/// Whose departure makes a wait hopeless.
enum class WaitsOn : std::uint8_t {
  any_member,    // a signal: any other member may still notify it
  every_member,  // a barrier, an allocation
  rung_member,   // the step of a collective that the rung member makes
};

/// Whether a member has already done what a wait for all members needs of it; then it may leave.
using HasDoneItsPart = FunctionRef<bool(std::uint32_t member)>;

/// Tells what a wait is for; asked only when somebody will read it.
using Describe = FunctionRef<WaitDescription()>;

class DomainState {
 public:
  /// The domain of all ranks of a job.
  static std::shared_ptr<DomainState> of_world(std::shared_ptr<World> world);

  /// The domain of `members` (ranks of the job). Collective over them. The death of `watched` ranks, which are not
  /// among them, ends its waits, too.
  static std::shared_ptr<DomainState> of_subset(std::shared_ptr<World> world, std::string name,
                                                std::vector<std::uint32_t> members, std::uint64_t id,
                                                std::vector<std::uint32_t> watched = {});

  [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(members_.size()); }
  /// For the records of its waits.
  [[nodiscard]] const WaitingDomain& waiting_domain() const noexcept { return waiting_domain_; }
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] TextId event_text() const noexcept { return event_text_; }
  [[nodiscard]] const std::vector<std::uint32_t>& members() const noexcept { return members_; }
  [[nodiscard]] const std::vector<int>& member_numbers() const noexcept { return member_numbers_; }
  [[nodiscard]] const HostGroups& groups() const noexcept { return groups_; }
  [[nodiscard]] World& world() const noexcept { return *world_; }
  [[nodiscard]] const std::shared_ptr<World>& world_pointer() const noexcept { return world_; }

  /// After one that timed out the caller may try again. It then counts as not arrived, unless all members of its host
  /// had arrived and other hosts know it: then the next call waits for the rest of that barrier.
  void barrier(std::chrono::nanoseconds timeout);

  /// 0, 1, 2 ... for successive allocations of this domain.
  [[nodiscard]] std::uint64_t next_sequence() noexcept { return sequence_.fetch_add(1, std::memory_order_relaxed); }

  /// Waits until `test` holds: reads what it tests with sequentially consistent loads; every change of that rings this
  /// rank, or the member `rung` if given. Throws peer_died or peer_left as `waits_on` says. False at the deadline: the
  /// caller knows what to report. `event` is recorded when the wait ends: in a trace always, else if it slept.
  [[nodiscard]] bool wait(FunctionRef<bool()> test, const Deadline& deadline, Describe describe_wait, WaitsOn waits_on,
                          EventRecord& event, std::optional<std::uint32_t> rung = std::nullopt,
                          const HasDoneItsPart* has_done_its_part = nullptr);

  /// Without a record.
  [[nodiscard]] bool wait(FunctionRef<bool()> test, const Deadline& deadline, Describe describe_wait, WaitsOn waits_on,
                          const HasDoneItsPart* has_done_its_part = nullptr) {
    EventRecord event;
    return wait(test, deadline, describe_wait, waits_on, event, std::nullopt, has_done_its_part);
  }

  /// Throws peer_died or peer_left if `waits_on` says so and `test` still does not hold. `since_ns`: when the wait
  /// began, 0 if it is not on record.
  void throw_if_hopeless(FunctionRef<bool()> test, Describe describe_wait, WaitsOn waits_on,
                         std::optional<std::uint32_t> rung, std::int64_t since_ns,
                         const HasDoneItsPart* has_done_its_part = nullptr);

  /// For the error about a wait() that reached its deadline: `notes`, and what all ranks of the job do if this is the
  /// rank that tells it.
  [[nodiscard]] static std::vector<std::string> with_hang_report(std::vector<std::string> notes);

  /// For who does not wait: throws peer_died if a member is dead.
  void throw_if_dead();

  [[nodiscard]] Attachments& attachments() noexcept { return attachments_; }

  /// "rank 2 (pid 4711)": a member in the words of this domain.
  [[nodiscard]] std::string describe_member(std::uint32_t member) const;
  /// The last barrier that `member` arrived at; of a member of another host, the last that this host knows of.
  [[nodiscard]] std::atomic<std::uint64_t>& barrier_epoch_of(std::uint32_t member) noexcept;
  /// One line for a report: what `member` does.
  [[nodiscard]] std::string describe_member_activity(std::uint32_t member) const;

 private:
  DomainState(std::shared_ptr<World> world, std::string name, std::vector<std::uint32_t> members, std::uint64_t id);

  /// Held during a barrier: a rank arrives once at each, however many threads it has.
  class BarrierTurn {
   public:
    explicit BarrierTurn(DomainState& domain);
    BarrierTurn(const BarrierTurn&) = delete;
    BarrierTurn& operator=(const BarrierTurn&) = delete;
    ~BarrierTurn();

   private:
    DomainState& domain_;
  };

  /// What all ranks do; nothing if another one has just told it.
  [[nodiscard]] std::vector<std::string> report_hang_once() const;
  /// Records `event` if it has begun.
  void end_event(EventRecord& event, EventOutcome outcome) const noexcept;
  /// A wait is about to sleep for the first time: it is recorded from now on, if it was not before.
  void record_sleep(EventRecord& event) const noexcept;

  /// The barrier `epoch`, at which this rank has not arrived yet.
  void pass_barrier(std::uint64_t epoch, std::chrono::nanoseconds timeout);
  /// Whether this arrival completes the barrier, so that nobody need wait.
  [[nodiscard]] bool arrive(std::uint64_t epoch);
  /// Those of `state` other than this rank; the dead in the order in which they ended.
  [[nodiscard]] std::vector<std::uint32_t> others_in(wire::RankState state);
  /// The watched rank that died before all others and the members `dead`, if any did.
  [[nodiscard]] std::optional<std::uint32_t> dead_watched(std::span<const std::uint32_t> dead) const;
  /// `what` is what the death ended, in words that go on with the culprit.
  [[noreturn]] void throw_watched_died(std::uint32_t culprit, const std::string& what) const;
  [[nodiscard]] std::vector<std::string> describe_deaths(std::span<const std::uint32_t> dead);
  [[noreturn]] void throw_barrier_timeout(std::uint64_t epoch, std::chrono::nanoseconds waited);

  std::shared_ptr<World> world_;
  std::string name_;
  TextId event_text_;
  std::vector<std::uint32_t> members_;
  std::vector<int> member_numbers_;
  /// Ranks of the job.
  std::vector<std::uint32_t> watched_;
  WaitingDomain waiting_domain_;
  std::uint64_t id_;
  std::uint32_t rank_;
  HostGroups groups_;
  /// The segment of a subset's barrier; the barrier of all ranks lies in the control segment.
  std::shared_ptr<SharedMemory> segment_;
  wire::BarrierWords* barrier_;
  std::uint64_t epoch_ = 0;
  /// The barrier at which this rank has arrived although it gave it up; 0: none.
  std::uint64_t kept_arrival_ = 0;
  std::atomic<bool> in_barrier_{false};
  std::atomic<std::uint64_t> sequence_{0};
  /// Empty if all members are of one host.
  std::optional<FarBarrier> far_barrier_;
  /// Last, so that they end first: their windows still use the members above.
  Attachments attachments_;
};

/// What is behind a handle, for the layers above.
struct DomainAccess {
  [[nodiscard]] static const std::shared_ptr<DomainState>& state(const Domain& domain) { return domain.state_; }
};

/// An identity for a subset that all its members compute alike: FNV-1a over the words.
[[nodiscard]] std::uint64_t hash_words(std::uint64_t seed, const std::vector<std::uint32_t>& words) noexcept;

}  // namespace baton::comm
