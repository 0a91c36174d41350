#include "node/signal_watches.hpp"

#include <algorithm>
#include <atomic>

#include "base/checked_order.hpp"
#include "base/fail.hpp"
#include "comm/address_book.hpp"
#include "comm/domain_state.hpp"
#include "comm/window_state.hpp"

namespace baton::node {
namespace {

using Watch = SignalWatches::Watch;

/// From when on others see it: writing it down takes longer than most of these waits.
constexpr std::chrono::milliseconds kLong{150};

comm::DomainState& state_of(const Watch& watch) { return *comm::DomainAccess::state(watch.open.domain); }

/// Between looks at signals whose change rings nobody.
constexpr std::chrono::milliseconds kLook{1};

std::int32_t value_of(const Watch& watch) { return watch.open.window.signal(watch.offset); }

bool reached(const Watch& watch) { return value_of(watch) >= watch.expected; }

std::uint32_t changes_of(const Watch& watch) {
  // Pairs with the increment in comm::mark_dead() and mark_left(), which ring afterwards.
  return state_of(watch).world().control().changes.load(std::memory_order_seq_cst);
}

void throw_if_hopeless(const Watch& watch) {
  const auto describe = [&] {
    return comm::WaitDescription{wire::Operation::waiting,
                                 watch.open.window.name(),
                                 watch.offset / sizeof(std::int32_t),
                                 WaitCmp::ge,
                                 watch.expected,
                                 0};
  };
  state_of(watch).throw_if_hopeless([&] { return reached(watch); }, describe, comm::WaitsOn::any_member, std::nullopt,
                                    0);
}

[[noreturn]] void throw_timeout(const Watch& watch) {
  constexpr std::uint32_t kMostNotes = 8;
  comm::DomainState& domain = state_of(watch);
  std::vector<std::string> notes;
  for (std::uint32_t member = 0; member < domain.size() && notes.size() < kMostNotes; ++member) {
    if (member != domain.rank()) notes.push_back(domain.describe_member_activity(member));
  }
  throw Error(Code::wait_timeout,
              fmt::format("rank {} of \"{}\" waited {} for a notification: signal {} of its window has {}, needs >= {}",
                          domain.rank(), domain.name(), comm::describe_duration(watch.timeout.count()),
                          watch.offset / sizeof(std::int32_t), value_of(watch), watch.expected),
              std::move(notes));
}

/// For `baton check`: the task of the node is behind those that notified.
void note_met(const Watch& watch) {
  if (!is_checked()) return;
  comm::World& world = state_of(watch).world();
  // Its own activity: neither the program of the chip nor a kernel waits.
  const CheckedActor by{world.rank(), Activity{1} << 60U | watch.task};
  const auto* signal = watch.open.window.local() + watch.offset;
  if (const auto place = comm::find_window(world, signal, sizeof(std::int32_t))) {
    comm::note_seen(place->window->checked_part(place->rank), place->offset, sizeof(std::int32_t), WaitCmp::ge,
                    watch.expected, "wait for a notification", {.activity = by.activity});
  }
  CheckedTasks{watch.tasks}.ended(by, watch.task);
}

/// Whether it has ended; throws why it never will.
bool ended(Watch& watch) {
  if (reached(watch)) {
    note_met(watch);
    return true;
  }
  if (const std::uint32_t changes = changes_of(watch); changes != watch.changes) {
    watch.changes = changes;
    throw_if_hopeless(watch);
  }
  if (watch.deadline.passed()) throw_timeout(watch);
  return false;
}

}  // namespace

void SignalWatches::add(Watch watch) {
  // Those that ended before are looked at once, too.
  watch.changes = changes_of(watch) - 1;
  const std::lock_guard lock(mutex_);
  watches_.push_back(std::move(watch));
}

void SignalWatches::forget(std::uint64_t domain) {
  const std::lock_guard lock(mutex_);
  std::erase_if(watches_, [&](const Watch& watch) {
    if (watch.domain != domain) return false;
    must_show_ = must_show_ || watch.shown;
    return true;
  });
}

bool SignalWatches::due() const {
  const std::lock_guard lock(mutex_);
  return must_show_ || std::any_of(watches_.begin(), watches_.end(), [](const Watch& watch) {
           return (watch.open.window.rings() && reached(watch)) || changes_of(watch) != watch.changes;
         });
}

Deadline SignalWatches::next_deadline() const {
  const std::lock_guard lock(mutex_);
  auto first = standing_.next_look();
  for (const Watch& watch : watches_) {
    first = std::min(first, watch.deadline.when());
    if (!watch.shown) first = std::min(first, watch.since + kLong);
    if (!watch.open.window.rings()) first = std::min(first, Deadline::Clock::now() + kLook);
  }
  return Deadline::at(first);
}

void SignalWatches::show_long_ones() {
  std::vector<comm::StandingWait> waits;
  for (const Watch& watch : watches_) {
    if (!watch.shown) continue;
    comm::World& world = state_of(watch).world();
    const auto place = comm::find_window(world, watch.open.window.local() + watch.offset, sizeof(std::int32_t));
    if (!place) continue;
    comm::WaitDescription what = place->window->describe_wait(place->offset, WaitCmp::ge, watch.expected);
    // Both clocks are CLOCK_MONOTONIC.
    what.since_ns = std::chrono::nanoseconds(watch.since.time_since_epoch()).count();
    what.is_patient = true;
    what.actor = fmt::format("task {} of the node", watch.task);
    waits.push_back({std::move(what), &state_of(watch).waiting_domain()});
  }
  standing_.show(waits);
  must_show_ = false;
}

std::vector<SignalWatches::Ended> SignalWatches::take_ended() {
  std::vector<Ended> found;
  const auto now = Deadline::Clock::now();
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(watches_, [&](Watch& watch) {
      try {
        if (!ended(watch)) return false;
        found.push_back({watch.task, nullptr});
      } catch (...) {
        found.push_back({watch.task, std::current_exception()});
      }
      must_show_ = must_show_ || watch.shown;
      return true;
    });
    for (Watch& watch : watches_) {
      if (!watch.shown && watch.since + kLong <= now) watch.shown = must_show_ = true;
    }
    if (must_show_) show_long_ones();
  }
  if (standing_.next_look() <= now) standing_.look();
  return found;
}

}  // namespace baton::node
