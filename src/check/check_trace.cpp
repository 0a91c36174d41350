#include "check/check_trace.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "check/recorded_history.hpp"

namespace baton::check {
namespace {

const char* verb_of(const Event& event) {
  if (event.kind == Kind::change) return "changes the signal there";
  if (event.kind == Kind::wait) return "looks at the signal there";
  switch (event.use) {
    case Use::read: return "reads";
    case Use::write: return "writes";
    case Use::atomic: return "changes";
  }
  return "touches";
}

class Reporter {
 public:
  explicit Reporter(const RecordedHistory& history) : names_(history.names()), actors_(history.actors()) {}

  [[nodiscard]] TraceFindings::Report report(const Finding& finding) const {
    return {key_of(finding), text_of(finding)};
  }

 private:
  /// A node that has chips is not a rank.
  [[nodiscard]] std::string who(Actor actor) const {
    const std::uint32_t rank = actors_.rank_of(actor);
    return rank == kNoRank ? "the host" : fmt::format("rank {}", rank);
  }

  [[nodiscard]] std::string describe(const Event& event) const {
    return fmt::format("{} {}: {}", who(event.actor), verb_of(event), names_.place(event.place));
  }

  [[nodiscard]] std::string describe(const Change& change) const {
    return fmt::format("{} ({} {}, {})", who(change.stamp.actor), change.op == NotifyOp::add ? "adds" : "sets",
                       change.value, names_.place(change.place));
  }

  [[nodiscard]] std::string describe(const Detour& detour) const {
    std::string text =
        fmt::format("; {} waits for {} {} {} ({}), but does not need the notify of {} for it", who(detour.wait.actor),
                    names_.signal(detour.wait), symbol_of(detour.wait.comparison), detour.wait.value,
                    names_.place(detour.wait.place), describe(detour.meant));
    if (detour.instead.empty()) return text;
    constexpr std::size_t kMost = 4;
    text += ": enough can come from ";
    for (std::size_t i = 0; i < std::min(kMost, detour.instead.size()); ++i) {
      text += fmt::format("{}{}", i == 0 ? "" : ", ", describe(detour.instead[i]));
    }
    if (detour.instead.size() > kMost) text += fmt::format(" and {} more", detour.instead.size() - kMost);
    return text;
  }

  /// What would order the two.
  [[nodiscard]] std::string missing(const Race& race) const {
    const bool in_tasks = !actors_.is_program(race.first.actor) && !actors_.is_program(race.second.actor);
    const bool on_one_chip = actors_.rank_of(race.first.actor) == actors_.rank_of(race.second.actor);
    if (in_tasks && (on_one_chip || names_.is_of_node(race.first.subject))) {
      return "; between their tasks is missing an edge (an argument that both name, a token, `after`), or a notify "
             "after the first and a wait for it before the second";
    }
    return "; between them are missing a notify after the first and a wait for it before the second, or a barrier";
  }

  [[nodiscard]] std::string text_of(const Finding& finding) const {
    const Race& race = finding.race;
    std::string text = fmt::format("race on {}\n  {}\n  {}\n  nothing orders the two",
                                   names_.bytes(race.first.subject, race.begin, race.end), describe(race.first),
                                   describe(race.second));
    text += finding.detour ? describe(*finding.detour) : missing(race);
    if (finding.times > 1) text += fmt::format("\n  seen {} times", finding.times);
    return text;
  }

  [[nodiscard]] std::string key_of(const Finding& finding) const {
    const Race& race = finding.race;
    std::string first = fmt::format("{} {}", names_.place(race.first.place), verb_of(race.first));
    std::string second = fmt::format("{} {}", names_.place(race.second.place), verb_of(race.second));
    if (second < first) std::swap(first, second);
    return fmt::format("{} | {} | {}", names_.name(race.first.subject), first, second);
  }

  const Names& names_;
  const Actors& actors_;
};

}  // namespace

TraceFindings check_trace(const std::string& path) {
  const TraceReader trace(path);
  RaceFinder finder;
  RecordedHistory history(trace, finder);
  trace.for_each_in_time([](const EventRecord& event) { return RecordedHistory::wants(event); },
                         [&](const EventRecord& event, std::uint32_t process) { history.add(event, process); });
  history.finish();
  TraceFindings found{.races = {}, .events = history.events(), .accesses = history.accesses()};
  const Reporter reporter(history);
  for (const Finding& finding : finder.findings()) found.races.push_back(reporter.report(finding));
  return found;
}

}  // namespace baton::check
