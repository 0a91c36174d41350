#include "comm/domain_state.hpp"

#include <algorithm>
#include <numeric>

#include "base/actor.hpp"
#include "base/fail.hpp"
#include "base/fiber.hpp"
#include "comm/allocation.hpp"
#include "comm/awake_by_calls.hpp"
#include "comm/barrier_protocol.hpp"
#include "comm/checked_accesses.hpp"
#include "comm/hang_report.hpp"
#include "comm/health.hpp"
#include "comm/stillness.hpp"

namespace baton::comm {

using Barrier = BarrierProtocol<wire::BarrierWords>;

namespace {

/// Of the wait that reached its deadline last on this thread: nothing runs between that and the error about it.
thread_local std::vector<std::string> expired_report;

}  // namespace

std::uint64_t hash_words(std::uint64_t seed, const std::vector<std::uint32_t>& words) noexcept {
  std::uint64_t hash = 14695981039346656037U ^ seed;
  const auto mix = [&hash](std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) {
      hash = (hash ^ (value & 0xffU)) * 1099511628211U;
      value >>= 8U;
    }
  };
  mix(seed);
  mix(words.size());
  for (const std::uint32_t word : words) mix(word);
  return hash;
}

DomainState::DomainState(std::shared_ptr<World> world, std::string name, std::vector<std::uint32_t> members,
                         std::uint64_t id)
    : world_(std::move(world)),
      name_(std::move(name)),
      event_text_(events::text(name_)),
      members_(std::move(members)),
      member_numbers_(members_.begin(), members_.end()),
      waiting_domain_(name_, member_numbers_),
      id_(id),
      rank_(static_cast<std::uint32_t>(std::find(members_.begin(), members_.end(), world_->rank()) - members_.begin())),
      groups_(members_, world_->rank(), world_->path()),
      barrier_(&world_->control().barrier) {}

std::shared_ptr<DomainState> DomainState::of_world(std::shared_ptr<World> world) {
  std::vector<std::uint32_t> members(world->size());
  std::iota(members.begin(), members.end(), 0U);
  auto domain = std::shared_ptr<DomainState>(new DomainState(std::move(world), "world", std::move(members), 0));
  if (domain->groups_.spans_hosts()) domain->far_barrier_.emplace(*domain);
  return domain;
}

std::shared_ptr<DomainState> DomainState::of_subset(std::shared_ptr<World> world, std::string name,
                                                    std::vector<std::uint32_t> members, std::uint64_t id,
                                                    std::vector<std::uint32_t> watched) {
  auto domain =
      std::shared_ptr<DomainState>(new DomainState(std::move(world), std::move(name), std::move(members), id));
  domain->watched_ = std::move(watched);
  static_cast<void>(
      allocate_segment(*domain, domain->name_, 0, [&](const std::shared_ptr<SharedMemory>& segment, auto /*key*/) {
        domain->segment_ = segment;
        domain->barrier_ = &static_cast<wire::SegmentHeader*>(segment->address())->barrier;
        if (domain->groups_.spans_hosts()) domain->far_barrier_.emplace(*domain);
      }));
  return domain;
}

std::atomic<std::uint64_t>& DomainState::barrier_epoch_of(std::uint32_t member) noexcept {
  if (!segment_) return world_->block(members_[member]).barrier_epoch;
  return wire::member_entry(*static_cast<wire::SegmentHeader*>(segment_->address()), member).barrier_epoch;
}

DomainState::BarrierTurn::BarrierTurn(DomainState& domain) : domain_(domain) {
  // Pairs with the store in the destructor: the next thread continues with the epoch that this one reached.
  if (domain_.in_barrier_.exchange(true, std::memory_order_acquire)) [[unlikely]] {
    fail(Code::in_flight, "rank {} called barrier() on \"{}\" while another thread of it is in one", domain_.rank_,
         domain_.name_);
  }
}

DomainState::BarrierTurn::~BarrierTurn() {
  // Pairs with the exchange in the constructor.
  domain_.in_barrier_.store(false, std::memory_order_release);
}

void DomainState::barrier(std::chrono::nanoseconds timeout) {
  const BarrierTurn turn(*this);
  const std::uint64_t epoch = ++epoch_;
  if (is_checked()) note_arrival(*this, epoch);
  pass_barrier(epoch, timeout);
  if (is_checked()) note_passing(*this, epoch);
}

void DomainState::pass_barrier(std::uint64_t epoch, std::chrono::nanoseconds timeout) {
  world_->note(wire::Operation::in_barrier);
  const std::uint64_t began = events::tracing() ? ticks() : 0;
  barrier_epoch_of(rank_).store(epoch, std::memory_order_relaxed);
  EventRecord event{.begin = began, .kind = EventKind::barrier, .object = event_text_, .a = epoch, .b = size()};
  const Deadline deadline = Deadline::within(timeout);
  // What this rank has sent to other hosts is there before it counts as arrived.
  if (far_barrier_ && kept_arrival_ != epoch && !world_->path()->flush(Flushed::puts, deadline)) {
    --epoch_;
    fail(Code::wait_timeout, "rank {} waited {} at barrier {} of \"{}\" for what it had sent to other hosts to be done",
         rank_, describe_duration(timeout.count()), epoch, name_);
  }
  if (arrive(epoch)) {
    end_event(event, EventOutcome::done);
    return;
  }
  const auto passed = [&] {
    return Barrier::passed(*barrier_, epoch) && (!far_barrier_ || far_barrier_->all_told(epoch));
  };
  if (passed()) {
    end_event(event, EventOutcome::done);
    return;
  }
  const auto describe_wait = [&] {
    return WaitDescription{wire::Operation::in_barrier, name_, epoch, WaitCmp::ge, 0, 0};
  };
  const auto has_arrived = [&](std::uint32_t member) {
    return barrier_epoch_of(member).load(std::memory_order_relaxed) >= epoch;
  };
  const HasDoneItsPart of_other_hosts = has_arrived;
  if (wait(passed, deadline, describe_wait, WaitsOn::every_member, event, std::nullopt,
           far_barrier_ ? &of_other_hosts : nullptr)) {
    return;
  }
  // A member that gives up may come again, and is then counted once.
  if (!Barrier::withdraw(*barrier_, epoch, groups_.here().size())) {
    if (passed()) return;
    kept_arrival_ = epoch;
  }
  --epoch_;
  throw_barrier_timeout(epoch, timeout);
}

bool DomainState::arrive(std::uint64_t epoch) {
  if (kept_arrival_ == epoch) return false;
  if (!Barrier::count(*barrier_, epoch, groups_.here().size())) return false;
  // Before members of this host pass, and may leave: a rank that leaves waits for what its host has begun to tell.
  if (far_barrier_) far_barrier_->tell(epoch);
  Barrier::release(*barrier_, epoch);
  for (const std::uint32_t member : groups_.here()) world_->ring(members_[member]);
  return !far_barrier_;
}

void DomainState::end_event(EventRecord& event, EventOutcome outcome) const noexcept {
  if (event.begin == 0 || event.kind == EventKind::none || !events::wants(event.kind)) return;
  event.end = ticks();
  event.rank = world_->rank();
  event.outcome = outcome;
  events::record(event);
}

void DomainState::record_sleep(EventRecord& event) const noexcept {
  if (event.kind == EventKind::none || !events::wants(event.kind)) return;
  if (event.begin == 0) event.begin = ticks();
  EventRecord began = event;
  began.rank = world_->rank();
  events::record(began);
}

std::vector<std::string> DomainState::report_hang_once() const {
  // Many ranks time out at nearly the same moment: one of them tells what all of them wait for.
  constexpr std::int64_t kApart = 5'000'000'000;
  std::atomic<std::int64_t>& told_ns = world_->control().told_ns;
  const std::int64_t now = monotonic_ns();
  std::int64_t last = told_ns.load(std::memory_order_relaxed);
  if ((last != 0 && now - last < kApart) || !told_ns.compare_exchange_strong(last, now, std::memory_order_relaxed))
    return {};
  return describe_all_ranks(*world_);
}

std::vector<std::string> DomainState::with_hang_report(std::vector<std::string> notes) {
  notes.insert(notes.end(), std::make_move_iterator(expired_report.begin()),
               std::make_move_iterator(expired_report.end()));
  expired_report.clear();
  return notes;
}

bool DomainState::wait(FunctionRef<bool()> test, const Deadline& deadline, Describe describe_wait, WaitsOn waits_on,
                       EventRecord& event, std::optional<std::uint32_t> rung, const HasDoneItsPart* has_done_its_part) {
  ParkingPlace place = world_->parking_place();
  if (waits_on != WaitsOn::any_member && place.crowding == Crowding::crowded) place.crowding = Crowding::packed;
  // Where each rank can have a processor, who has none has lost it to a stranger.
  place.gives_way_to_strangers = place.crowding == Crowding::spare;
  if (rung) place.doorbell = &wire::doorbell_of(world_->control(), members_[*rung]);
  wire::ControlHeader& control = world_->control();
  WaitEntry entry;
  const void* const actor = current_actor();
  Path* const path = world_->path();
  const bool looks_are_calls = path != nullptr && place.crowding == Crowding::spare && !on_fiber();
  // The rungs of one host are made for looks that cost nothing.
  if (looks_are_calls) place.crowding = Crowding::crowded;
  if (event.begin == 0 && events::tracing()) event.begin = ticks();
  std::int64_t since_ns = 0;
  // Pairs with the increment in announce_change(): a death after this load ends the wait below.
  std::uint32_t changes = control.changes.load(std::memory_order_seq_cst);
  bool holds = false;
  bool woken = true;
  StillnessWatch watch(control, deadline);
  while (true) {
    // Members that were gone before the wait began count too.
    if (changes != 0 && !(holds = test())) {
      try {
        throw_if_hopeless(test, describe_wait, waits_on, rung, since_ns, has_done_its_part);
      } catch (...) {
        end_event(event, EventOutcome::failed);
        throw;
      }
    }
    if (holds) break;
    const auto changed = [&] {
      if (path != nullptr) path->progress();
      holds = test();
      return holds || control.changes.load(std::memory_order_seq_cst) != changes;
    };
    const auto before_sleep = [&] {
      if (since_ns != 0) return;
      since_ns = monotonic_ns();
      WaitDescription written = describe_wait();
      written.since_ns = since_ns;
      written.is_patient = deadline.when() - Deadline::Clock::now() >= world_->wait_timeout() / 2;
      written.actor = describe_actor(actor);
      entry.begin(world_->block(world_->rank()), written, waiting_domain_);
      watch.begin();
      record_sleep(event);
    };
    thread_local AwakeByCalls awake_by_calls;
    const bool awake = looks_are_calls && awake_by_calls.stay(changed);
    woken = awake || wait_until(place, changed, watch.next(), before_sleep);
    if (holds || (!woken && deadline.passed())) break;
    if (!woken && watch.look()) tell_deadlock(*world_);
    changes = control.changes.load(std::memory_order_seq_cst);
  }
  // Before the record goes: this rank is one of those that wait. A caller that asks again and again does not want to
  // know.
  constexpr std::int64_t kWorthAReport = 100'000'000;
  if (!holds && since_ns != 0 && monotonic_ns() - since_ns >= kWorthAReport) expired_report = report_hang_once();
  entry.end();
  end_event(event, holds ? EventOutcome::done : EventOutcome::expired);
  return holds;
}

std::vector<std::uint32_t> DomainState::others_in(wire::RankState state) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t member = 0; member < size(); ++member) {
    if (member != rank_ && state_of(world_->control(), members_[member]) == state) found.push_back(member);
  }
  if (state != wire::RankState::dead) return found;
  // The first to die is the cause; others may have died of it.
  const auto ended_ns = [this](std::uint32_t member) {
    return world_->block(members_[member]).ended_ns.load(std::memory_order_relaxed);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return ended_ns(a) < ended_ns(b); });
  return found;
}

std::optional<std::uint32_t> DomainState::dead_watched(std::span<const std::uint32_t> dead) const {
  if (watched_.empty()) return std::nullopt;
  std::vector<std::uint32_t> ranks = watched_;
  for (const std::uint32_t member : dead) ranks.push_back(members_[member]);
  const std::optional<std::uint32_t> first = first_death(world_->control(), ranks);
  if (!first || std::find(watched_.begin(), watched_.end(), *first) == watched_.end()) return std::nullopt;
  return first;
}

void DomainState::throw_watched_died(std::uint32_t culprit, const std::string& what) const {
  const wire::ControlHeader& control = world_->control();
  throw Error(Code::peer_died, fmt::format("{} rank {} of the job died", what, culprit),
              {fmt::format("rank {} of the job ({}) died: {}", culprit, describe_process(control, culprit),
                           describe_end(control, culprit))});
}

std::vector<std::string> DomainState::describe_deaths(std::span<const std::uint32_t> dead) {
  std::vector<std::string> notes;
  notes.reserve(dead.size());
  for (const std::uint32_t member : dead) {
    notes.push_back(
        fmt::format("{} died: {}", describe_member(member), describe_end(world_->control(), members_[member])));
  }
  return notes;
}

void DomainState::throw_if_dead() {
  // Pairs with the increment in announce_change().
  if (world_->control().changes.load(std::memory_order_acquire) == 0) [[likely]]
    return;
  const std::vector<std::uint32_t> dead = others_in(wire::RankState::dead);
  if (const auto watched = dead_watched(dead))
    throw_watched_died(*watched, fmt::format("rank {} of \"{}\" was busy when", rank_, name_));
  if (dead.empty()) return;
  throw Error(Code::peer_died, fmt::format("rank {} was busy when rank {} of \"{}\" died", rank_, dead.front(), name_),
              describe_deaths(dead));
}

void DomainState::throw_if_hopeless(FunctionRef<bool()> test, Describe describe_wait, WaitsOn waits_on,
                                    std::optional<std::uint32_t> rung, std::int64_t since_ns,
                                    const HasDoneItsPart* has_done_its_part) {
  const wire::RankState own = state_of(world_->control(), members_[rank_]);
  if (own == wire::RankState::left || own == wire::RankState::dead) {
    if (test()) return;
    throw Error(Code::peer_left,
                fmt::format("rank {} waited for {}, but it has left the job itself", rank_, describe(describe_wait())));
  }
  const std::vector<std::uint32_t> dead = others_in(wire::RankState::dead);
  std::vector<std::uint32_t> left = others_in(wire::RankState::left);
  const bool nobody_remains = size() > 1 && dead.size() + left.size() + 1 == size();
  // What it did may still be on its way to this host, by another member.
  if (has_done_its_part != nullptr) std::erase_if(left, *has_done_its_part);
  if (waits_on == WaitsOn::rung_member) std::erase_if(left, [&](std::uint32_t member) { return member != rung; });
  const bool hopeless_departure = waits_on == WaitsOn::any_member ? nobody_remains : !left.empty();
  const std::optional<std::uint32_t> dead_elsewhere = dead_watched(dead);
  if (dead.empty() && !dead_elsewhere && !hopeless_departure) return;
  // A rank that is gone by now may have done its part first, after the caller's test.
  if (test()) return;

  const std::string waited = since_ns == 0 ? "" : " for " + describe_duration(monotonic_ns() - since_ns);
  if (dead_elsewhere) {
    throw_watched_died(*dead_elsewhere, fmt::format("rank {} of \"{}\" waited{} for {}, but", rank_, name_, waited,
                                                    describe(describe_wait())));
  }
  std::vector<std::string> notes = describe_deaths(dead);
  if (dead.empty()) {
    for (const std::uint32_t member : left) notes.push_back(describe_member(member) + " has left the job");
  }
  const bool death = !dead.empty();
  const std::uint32_t culprit = death ? dead.front() : left.front();
  throw Error(death ? Code::peer_died : Code::peer_left,
              fmt::format("rank {} waited{} for {}, but rank {} of \"{}\" {}", rank_, waited, describe(describe_wait()),
                          culprit, name_, death ? "died" : "has left"),
              std::move(notes));
}

void DomainState::throw_barrier_timeout(std::uint64_t epoch, std::chrono::nanoseconds waited) {
  std::vector<std::string> notes;
  std::vector<std::uint32_t> missing;
  for (std::uint32_t member = 0; member < size(); ++member) {
    if (barrier_epoch_of(member).load(std::memory_order_relaxed) >= epoch) continue;
    missing.push_back(member);
    notes.push_back(describe_member_activity(member));
  }
  throw Error(Code::wait_timeout,
              fmt::format("rank {} waited {} for barrier {} of \"{}\"; rank{} {} of {} did not arrive", rank_,
                          describe_duration(waited.count()), epoch, name_, missing.size() == 1 ? "" : "s",
                          fmt::join(missing, ", "), size()),
              with_hang_report(std::move(notes)));
}

std::string DomainState::describe_member(std::uint32_t member) const {
  const std::string process = describe_process(world_->control(), members_[member]);
  std::string text = fmt::format("rank {}", member);
  if (members_[member] != member) text += fmt::format(" (rank {} of the job)", members_[member]);
  return process.empty() ? text : fmt::format("{} ({})", text, process);
}

std::string DomainState::describe_member_activity(std::uint32_t member) const {
  const std::string text =
      fmt::format("{} {}", describe_member(member), describe_activity(world_->control(), members_[member]));
  const std::string trouble = world_->path() == nullptr ? "" : world_->path()->trouble_with(members_[member]);
  return trouble.empty() ? text : fmt::format("{}; {}", text, trouble);
}

}  // namespace baton::comm
