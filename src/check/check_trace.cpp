#include "check/check_trace.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/checked_event.hpp"
#include "base/quote.hpp"
#include "base/trace_reader.hpp"
#include "check/race_finder.hpp"
#include "check/reordering.hpp"

namespace baton::check {
namespace {

/// The names behind the numbers of a history.
class Names {
 public:
  [[nodiscard]] std::uint32_t place(const std::string& text) {
    const auto [at, is_new] = places_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return at->second;
  }
  void memory(std::uint64_t number, const std::string& window, std::uint32_t owner) {
    memories_.try_emplace(number, window, owner);
  }

  [[nodiscard]] const std::string& place(std::uint32_t number) const { return texts_[number]; }
  [[nodiscard]] std::string bytes(std::uint64_t memory, std::uint64_t begin, std::uint64_t end) const {
    const auto& [window, owner] = memories_.at(memory);
    const std::string range =
        end - begin == 1 ? fmt::format("byte {}", begin) : fmt::format("bytes {} to {}", begin, end - 1);
    return fmt::format("{} of rank {}'s part of {}", range, owner, quote(window));
  }
  [[nodiscard]] const std::string& window(std::uint64_t memory) const { return memories_.at(memory).first; }
  [[nodiscard]] std::string signal(const Event& event) const {
    const auto& [window, owner] = memories_.at(event.subject);
    return fmt::format("signal {} of {} at rank {}", event.begin / (event.end - event.begin), quote(window), owner);
  }

 private:
  std::map<std::string, std::uint32_t> places_;
  std::vector<std::string> texts_;
  std::map<std::uint64_t, std::pair<std::string, std::uint32_t>> memories_;
};

std::string text_of(const TraceReader& trace, std::uint32_t process, TextId id) {
  const std::string* const text = trace.text(process, id);
  return text == nullptr ? "" : *text;
}

/// What this analysis needs of a trace.
constexpr auto kIsWanted = [](const baton::Event& event) {
  return event.kind == EventKind::joined || event.kind == EventKind::left ||
         info_of(event.kind).level == EventLevel::check;
};

/// An event of a trace as one of a history; `needs` is set for those that receive a token.
Event history_event(const baton::Event& recorded, const TraceReader& trace, std::uint32_t process, Names& names,
                    std::uint64_t& needs) {
  Event event;
  event.actor = recorded.rank;
  needs = 0;
  if (recorded.kind == EventKind::hand || recorded.kind == EventKind::take) {
    event.kind = recorded.kind == EventKind::hand ? Kind::hand : Kind::receive;
    event.subject = recorded.a;
    needs = recorded.b;
    return event;
  }
  const CheckedBytes bytes = unpack(recorded);
  names.memory(bytes.memory, text_of(trace, process, recorded.object), bytes.owner);
  event.place = names.place(text_of(trace, process, recorded.place));
  event.subject = bytes.memory;
  event.begin = bytes.begin;
  event.end = recorded.kind == EventKind::touch ? bytes.last : bytes.begin + bytes.word_bytes;
  event.value = static_cast<std::int64_t>(bytes.last);
  switch (recorded.kind) {
    case EventKind::change:
      event.kind = Kind::change;
      event.op = static_cast<NotifyOp>(bytes.how);
      break;
    case EventKind::saw:
      event.kind = Kind::wait;
      event.comparison = static_cast<WaitCmp>(bytes.how);
      break;
    default: event.kind = Kind::access; event.use = static_cast<Use>(bytes.how);
  }
  return event;
}

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

std::string describe_change(const Change& change, const Names& names) {
  return fmt::format("rank {} ({} {}, {})", change.stamp.actor, change.op == NotifyOp::add ? "adds" : "sets",
                     change.value, names.place(change.place));
}

std::string describe(const Finding& finding, const Names& names) {
  const Race& race = finding.race;
  std::string text = fmt::format("race on {}\n  rank {} {}: {}\n  rank {} {}: {}\n  nothing orders the two",
                                 names.bytes(race.first.subject, race.begin, race.end), race.first.actor,
                                 verb_of(race.first), names.place(race.first.place), race.second.actor,
                                 verb_of(race.second), names.place(race.second.place));
  if (finding.detour) {
    const Detour& detour = *finding.detour;
    text += fmt::format("; rank {} waits for {} {} {} ({}), but does not need the notify of {} for it",
                        detour.wait.actor, names.signal(detour.wait), symbol_of(detour.wait.comparison),
                        detour.wait.value, names.place(detour.wait.place), describe_change(detour.meant, names));
    if (!detour.instead.empty()) {
      constexpr std::size_t kMost = 4;
      text += ": enough can come from ";
      for (std::size_t i = 0; i < std::min(kMost, detour.instead.size()); ++i) {
        text += fmt::format("{}{}", i == 0 ? "" : ", ", describe_change(detour.instead[i], names));
      }
      if (detour.instead.size() > kMost) text += fmt::format(" and {} more", detour.instead.size() - kMost);
    }
  } else {
    text += "; between them are missing a notify after the first and a wait for it before the second, or a barrier";
  }
  if (finding.times > 1) text += fmt::format("\n  seen {} times", finding.times);
  return text;
}

std::string key_of(const Finding& finding, const Names& names) {
  std::string first = fmt::format("{} {}", names.place(finding.race.first.place), verb_of(finding.race.first));
  std::string second = fmt::format("{} {}", names.place(finding.race.second.place), verb_of(finding.race.second));
  if (second < first) std::swap(first, second);
  return fmt::format("{} | {} | {}", names.window(finding.race.first.subject), first, second);
}

}  // namespace

TraceFindings check_trace(const std::string& path) {
  const TraceReader trace(path);
  Names names;
  RaceFinder finder;
  Reordering reordering;
  TraceFindings found;
  const auto give = [&](const Event& event) { finder.add(event); };
  trace.for_each_in_time(kIsWanted, [&](const baton::Event& recorded, std::uint32_t process) {
    if (recorded.kind == EventKind::joined) return finder.enter(recorded.rank);
    if (recorded.kind == EventKind::left) return finder.leave(recorded.rank);
    std::uint64_t needs = 0;
    const Event event = history_event(recorded, trace, process, names, needs);
    finder.enter(event.actor);
    ++found.events;
    if (event.kind == Kind::access) ++found.accesses;
    reordering.add(event, needs, give);
  });
  reordering.finish(give);
  finder.finish();
  for (const Finding& finding : finder.findings()) {
    found.races.push_back({key_of(finding, names), describe(finding, names)});
  }
  return found;
}

}  // namespace baton::check
