#include "comm/hang_report.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/log.hpp"
#include "base/process_stat.hpp"
#include "base/recorder.hpp"
#include "base/ticks.hpp"
#include "comm/grouped_facts.hpp"
#include "comm/health.hpp"
#include "comm/kernel_record.hpp"
#include "comm/world.hpp"
#include "wire/names.hpp"

namespace baton::comm {
namespace {

/// What fits into a report that people read: groups of ranks, ranks that are asked for the last notify, last events of
/// a rank, and ranks whose last events are shown.
constexpr std::size_t kMostGroups = 24;
constexpr std::size_t kMostNotifiers = 64;
constexpr std::size_t kMostEvents = 3;
constexpr std::size_t kMostRanksWithEvents = 8;
/// Between what a rank does and what tells it apart from others that do the same: in no text.
constexpr char kApart = '\n';

std::vector<int> as_numbers(const std::vector<std::uint32_t>& ranks) { return {ranks.begin(), ranks.end()}; }
std::string named(const std::vector<std::uint32_t>& ranks) { return name_ranks(as_numbers(ranks)); }

/// An event with the texts that it names.
struct FoundEvent {
  const EventRecord* event = nullptr;
  const LastEvents* source = nullptr;
};

class Reporter {
 public:
  Reporter(const ControlView& control, const LastEvents* own)
      : control_(*control.header), processes_(control.processes), own_(own) {
    // Held against the real size: the header may have changed since it was checked.
    const std::size_t room = (control.bytes - sizeof(wire::ControlHeader)) / sizeof(wire::RankBlock);
    count_ = static_cast<std::uint32_t>(std::min<std::size_t>(control_.rank_count, room));
    if (control_.event_areas >= count_ && wire::control_bytes(count_, count_) <= control.bytes) {
      areas_ = reinterpret_cast<const EventArea*>(&wire::rank_block(control_, count_));
    }
    std::vector<RankOfGraph> ranks;
    for (std::uint32_t rank = 0; rank < count_; ++rank) ranks.push_back(look_at(rank));
    report_.graph = WaitGraph(std::move(ranks));
  }

  HangReport report() && {
    report_.stuck = report_.graph.stuck();
    describe_hosts();
    describe_all();
    describe_stuck();
    describe_events();
    return std::move(report_);
  }

 private:
  RankOfGraph look_at(std::uint32_t rank) {
    const wire::RankBlock& block = wire::rank_block(control_, rank);
    RankOfGraph seen;
    std::string fact;
    kernels_.emplace_back();
    const wire::RankState state = state_of(control_, rank);
    const bool silent = process_of(rank) == ProcessSeen::silent && state == wire::RankState::absent;
    if (state != wire::RankState::live && !silent) {
      seen.state = RankOfGraph::State::gone;
      fact = describe_activity(control_, rank);
    } else {
      seen.waits = read_waits(block);
      kernels_.back() = read_kernels(block);
      const ProcessSeen process = process_of(rank);
      switch (process) {
        case ProcessSeen::runs:
          if (!seen.waits.empty() && kernels_.back().empty()) seen.state = RankOfGraph::State::waits;
          break;
        case ProcessSeen::stopped: fact = "stopped: a debugger, Ctrl-Z or SIGSTOP holds the process"; break;
        case ProcessSeen::ended: fact = "dead, cause unknown"; break;
        case ProcessSeen::silent: fact = "not known: its host did not answer"; break;
        case ProcessSeen::nothing:
          fact = "not known: it is on another host, of which `baton ps --explain` tells";
          break;
      }
      // What it waited for may be over.
      if (process == ProcessSeen::silent) seen.waits.clear();
      if (process == ProcessSeen::silent || process == ProcessSeen::ended) kernels_.back().clear();
      if (process == ProcessSeen::ended) seen = {.state = RankOfGraph::State::gone, .waits = {}};
    }
    facts_.push_back(std::move(fact));
    return seen;
  }

  [[nodiscard]] ProcessSeen process_of(std::uint32_t rank) const {
    if (rank < processes_.size()) return processes_[rank].load(std::memory_order_relaxed);
    if (control_.in_process != 0) return ProcessSeen::runs;
    if (!is_here(control_, rank)) return ProcessSeen::nothing;
    const auto stat = read_process_stat(wire::rank_block(control_, rank).pid.load(std::memory_order_relaxed));
    return stat && (stat->state == 'T' || stat->state == 't') ? ProcessSeen::stopped : ProcessSeen::runs;
  }

  /// Of a job whose hosts were asked: who is where.
  void describe_hosts() {
    if (processes_.empty()) return;
    GroupedFacts groups;
    for (std::uint32_t rank = 0; rank < count_; ++rank) {
      groups.add(static_cast<int>(rank), wire::load_name(wire::rank_block(control_, rank).host));
    }
    const std::vector<std::string>& hosts = groups.facts();
    std::string text;
    for (std::size_t i = 0; i < std::min(hosts.size(), kMostGroups); ++i) {
      const std::vector<int>& ranks = groups.ranks(hosts[i]);
      text += fmt::format("{}{} {} on host {}", text.empty() ? "" : ", ", name_ranks(ranks),
                          ranks.size() == 1 ? "is" : "are", hosts[i]);
    }
    if (hosts.size() > kMostGroups) text += fmt::format(", the others on {} more hosts", hosts.size() - kMostGroups);
    add(std::move(text));
  }

  [[nodiscard]] std::string occupation(std::uint32_t rank) const {
    if (!facts_[rank].empty()) return facts_[rank];
    const auto& waits = report_.graph.ranks()[rank].waits;
    std::string text;
    for (const ComputingKernel& kernel : kernels_[rank]) {
      text += (text.empty() ? "computing in " : " and in ") + kernel.what;
    }
    if (waits.empty()) return text.empty() ? "running" : text;
    for (const WaitDescription& wait : waits) {
      if (!text.empty()) text += "; ";
      text += "waiting for " + describe(wait);
      if (!wait.actor.empty()) text += " in " + wait.actor;
    }
    if (const auto more = wire::rank_block(control_, rank).unlisted_waits.load(std::memory_order_relaxed); more > 0)
      text += fmt::format("; and {} more", more);
    return text;
  }

  /// Groups of ranks that do the same, those that are alone first: there begins what the others wait for. Ranks that
  /// wait for signals of one name, each for its own, are together as long as these have the same value.
  void describe_all() {
    GroupedFacts groups;
    for (std::uint32_t rank = 0; rank < count_; ++rank) {
      groups.add(static_cast<int>(rank), occupation(rank) + kApart + details_of(rank));
    }
    std::vector<std::string> order = groups.facts();
    std::ranges::stable_sort(order, {}, [&](const std::string& fact) { return groups.ranks(fact).size(); });
    for (std::size_t i = 0; i < std::min(order.size(), kMostGroups); ++i) {
      const std::vector<int>& ranks = groups.ranks(order[i]);
      const auto first = static_cast<std::uint32_t>(ranks.front());
      add(fmt::format("{}: {}{}", name_ranks(ranks), occupation(first), how_long(ranks)));
      for (const ComputingKernel& kernel : kernels_[first]) describe_kernel(kernel);
      for (const WaitDescription& wait : report_.graph.ranks()[first].waits) describe_wait(ranks, wait);
    }
    if (order.size() > kMostGroups) add(fmt::format("and {} more groups of ranks", order.size() - kMostGroups));
  }

  /// What tells ranks apart that wait for signals of one name: their values, and who notified them.
  [[nodiscard]] std::string details_of(std::uint32_t rank) {
    std::string text;
    // Of more, the first of them speaks for all.
    if (count_ > kMostNotifiers) return text;
    for (const WaitDescription& wait : report_.graph.ranks()[rank].waits) {
      if (wait.operation != wire::Operation::waiting) continue;
      const AwaitedSignal signal = find_signal(rank, wait, report_.graph.awaited_by(rank, wait).ranks);
      text +=
          fmt::format("{} {} {};", signal.has,
                      signal.last_notify.event != nullptr ? signal.last_notify.event->rank : kNoRank, signal.where());
    }
    return text;
  }

  void describe_kernel(const ComputingKernel& kernel) {
    add(fmt::format("  it has run for {}{}",
                    describe_duration(std::max<std::int64_t>(monotonic_ns() - kernel.since_ns, 0)),
                    kernel.where.empty() ? "" : ", and was " + kernel.where + " when it was last looked at"));
  }

  [[nodiscard]] std::string how_long(const std::vector<int>& ranks) const {
    std::int64_t since = INT64_MAX;
    for (const int rank : ranks) {
      const auto& waits = report_.graph.ranks()[static_cast<std::size_t>(rank)].waits;
      if (!waits.empty()) since = std::min(since, waits.front().since_ns);
    }
    if (since == INT64_MAX) return "";
    return ", for " + describe_duration(std::max<std::int64_t>(monotonic_ns() - since, 0));
  }

  /// Of ranks that do the same, in ascending order; the first speaks for all.
  void describe_wait(const std::vector<int>& ranks, const WaitDescription& wait) {
    const auto rank = static_cast<std::uint32_t>(ranks.front());
    Awaited awaited = report_.graph.awaited_by(rank, wait);
    if (wait.operation == wire::Operation::waiting) {
      describe_signal(rank, wait, awaited.ranks);
      // Each waits for a signal of its own, which the first one could notify, too.
      if (ranks.size() > 1) awaited.ranks.insert(std::ranges::lower_bound(awaited.ranks, rank), rank);
      describe_others("who could notify it", awaited.ranks);
    } else {
      describe_others("who has not come", awaited.ranks);
    }
  }

  /// What the events know of a signal that a rank waits for.
  struct AwaitedSignal {
    FoundEvent wait;  // none if it has no record of the wait
    FoundEvent last_notify;
    std::int32_t has = 0;

    [[nodiscard]] std::string_view where() const {
      return last_notify.event == nullptr ? std::string_view() : last_notify.source->text(last_notify.event->place);
    }
  };

  [[nodiscard]] AwaitedSignal find_signal(std::uint32_t rank, const WaitDescription& wait,
                                          std::vector<std::uint32_t> notifiers) {
    AwaitedSignal found;
    found.wait = last_of(EventKind::wait, {rank}, [&](const EventRecord& event) {
      return event.rank == rank && event.end == 0 && static_cast<std::int32_t>(event.c) == wait.needs;
    });
    if (found.wait.event == nullptr) return found;
    const EventRecord& waits = *found.wait.event;
    // Both events have the window's name; of a buffer in one, the record has the buffer's.
    const std::string_view window = found.wait.source->text(waits.object);
    if (notifiers.size() > kMostNotifiers) notifiers.resize(kMostNotifiers);
    notifiers.push_back(rank);
    found.last_notify = last_of(
        EventKind::notify, notifiers,
        [&](const EventRecord& event) { return event.a == waits.a && event.b == waits.b; }, window);
    found.has = static_cast<std::int32_t>(found.last_notify.event != nullptr ? found.last_notify.event->c : waits.d);
    return found;
  }

  void describe_signal(std::uint32_t rank, const WaitDescription& wait, const std::vector<std::uint32_t>& notifiers) {
    const AwaitedSignal signal = find_signal(rank, wait, notifiers);
    if (signal.wait.event == nullptr) return;
    const std::string_view place = signal.wait.source->text(signal.wait.event->place);
    if (!place.empty()) add(fmt::format("  it waits at {}", place));
    add(fmt::format("  it has {} and needs {} {}", signal.has, symbol_of(wait.comparison), wait.needs));
    const EventRecord* const last = signal.last_notify.event;
    if (last == nullptr) return add("  nobody has notified it, as far as is on record");
    add(fmt::format("  last notified by rank {}, {} ago{}", last->rank, age_of(*last),
                    signal.where().empty() ? "" : fmt::format(", at {}", signal.where())));
  }

  void describe_others(std::string_view what, const std::vector<std::uint32_t>& ranks) {
    GroupedFacts groups;
    for (const std::uint32_t rank : ranks) groups.add(static_cast<int>(rank), occupation(rank));
    if (ranks.empty()) return add(fmt::format("  {}: nobody", what));
    std::string text;
    for (const std::string& fact : groups.facts()) {
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", name_ranks(groups.ranks(fact)), fact);
    }
    add(fmt::format("  {}: {}", what, text));
  }

  void describe_stuck() {
    if (report_.stuck.empty()) return;
    const auto cycle = report_.graph.cycle_among(report_.stuck);
    add(fmt::format("{} cannot go on: {}", named(report_.stuck),
                    report_.stuck.size() == 1 ? "nobody is left who could end the wait"
                                              : "everyone who could end their waits is waiting, too"));
    if (cycle.empty()) return;
    std::string text = fmt::format("rank {}", cycle.front());
    for (std::size_t i = 1; i < cycle.size(); ++i) text += fmt::format(" waits for rank {}, which", cycle[i]);
    add(fmt::format("the cycle: {} waits for rank {}", text, cycle.front()));
  }

  void describe_events() {
    std::size_t told = 0;
    for (std::uint32_t rank = 0; rank < count_ && told < kMostRanksWithEvents; ++rank) {
      const LastEvents* source = events_of(rank);
      if (source == nullptr) return;
      std::vector<std::string> lines;
      for (auto event = source->events.rbegin(); event != source->events.rend() && lines.size() < kMostEvents;
           ++event) {
        if (event->rank != rank || event->end == 0 || was_brief(*event)) continue;
        lines.push_back(fmt::format("    {} ago: {}", age_of(*event), baton::describe(*event, *source)));
      }
      if (lines.empty()) continue;
      if (told++ == 0) add("the last events:");
      for (auto line = lines.rbegin(); line != lines.rend(); ++line) add(std::move(*line));
    }
  }

  /// Null if nobody knows. Those of another process are read when they are asked for.
  [[nodiscard]] const LastEvents* events_of(std::uint32_t rank) {
    if (areas_ == nullptr) return own_;
    const auto [known, is_new] = events_.try_emplace(rank);
    if (is_new) known->second = read_area(areas_[rank]);
    return &known->second;
  }

  /// The latest event of a kind that `fits`, of these ranks; with `window`, of that one.
  template <class Fits>
  [[nodiscard]] FoundEvent last_of(EventKind kind, const std::vector<std::uint32_t>& ranks, const Fits& fits,
                                   std::string_view window = {}) {
    FoundEvent found;
    for (const std::uint32_t rank : ranks) {
      const LastEvents* const source = events_of(rank);
      if (source == nullptr) return found;
      for (const EventRecord& event : source->events) {
        if (event.kind != kind || !fits(event) || (!window.empty() && source->text(event.object) != window)) continue;
        if (found.event == nullptr || event.written() >= found.event->written()) found = {&event, source};
      }
      if (source == own_) return found;  // has those of all ranks
    }
    return found;
  }

  /// A wait that gave up soon is one of those that ask again and again.
  [[nodiscard]] bool was_brief(const EventRecord& event) const {
    constexpr std::int64_t kBrief = 100'000'000;
    return event.outcome == EventOutcome::expired &&
           scale_.nanoseconds(event.end) - scale_.nanoseconds(event.begin) < kBrief;
  }

  [[nodiscard]] std::string age_of(const EventRecord& event) const {
    return describe_duration(std::max<std::int64_t>(monotonic_ns() - scale_.nanoseconds(event.written()), 0));
  }

  void add(std::string line) { report_.lines.push_back(std::move(line)); }

  const wire::ControlHeader& control_;
  std::span<const ProcessState> processes_;
  const LastEvents* own_;
  std::uint32_t count_ = 0;
  const EventArea* areas_ = nullptr;                   // by rank; null if there are none
  std::map<std::uint32_t, LastEvents> events_;         // those that were read
  std::vector<std::string> facts_;                     // by rank: what it does, unless it runs or waits
  std::vector<std::vector<ComputingKernel>> kernels_;  // by rank: those that have computed for long
  TickScale scale_ = scale_since_start();
  HangReport report_;
};

}  // namespace

HangReport report_hang(const ControlView& control, const LastEvents* own) { return Reporter(control, own).report(); }

std::vector<std::string> describe_all_ranks(World& world) {
  const wire::ControlHeader& control = world.control();
  const bool one_process = control.in_process != 0;
  const LastEvents own = one_process ? events::last_events() : LastEvents();
  std::vector<std::string> lines = report_hang({&control, control.bytes}, one_process ? &own : nullptr).lines;
  lines.insert(lines.begin(), std::string(kHangReportTitle));
  return lines;
}

std::string deadlock_sentence(std::string_view job) {
  return fmt::format(
      "no rank of \"{}\" can go on: all of them wait for each other, unless something outside of Baton notifies", job);
}

void tell_deadlock(World& world) {
  log::warn("{}\n  {}", deadlock_sentence(world.name()), fmt::join(describe_all_ranks(world), "\n  "));
}

}  // namespace baton::comm
