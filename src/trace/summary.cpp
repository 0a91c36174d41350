// What a trace tells, for a terminal.
#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/table.hpp"
#include "trace/analysis.hpp"

namespace baton::trace {
namespace {

constexpr std::size_t kMostRanks = 32;
constexpr std::size_t kMostKernels = 12;
constexpr std::size_t kMostParts = 10;
/// A chain of at least this many tasks, and this share of all, is worth a word.
constexpr std::uint64_t kLongChain = 16;
constexpr double kChainShare = 0.5;

std::string percent(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? "-" : fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

/// "rank 1 (80 %), rank 3".
std::string whom(const RankTimes& times) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> by_time;
  std::int64_t all = 0;
  for (const auto& [rank, ns] : times.waited_for) {
    by_time.emplace_back(ns, rank);
    all += ns;
  }
  std::ranges::sort(by_time, std::greater());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min<std::size_t>(by_time.size(), 2); ++i) {
    const std::string name = by_time[i].second == kNoRank ? "not known" : fmt::format("rank {}", by_time[i].second);
    names.push_back(fmt::format("{} ({})", name, percent(by_time[i].first, all)));
  }
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, ", "));
}

struct KernelTimes {
  std::uint64_t count = 0;
  std::int64_t total = 0;
  std::int64_t longest = 0;
  std::int64_t waiting = 0;  // in it
};

/// Tables of a summary: what counts as work is the kernels, and what makes them.
bool is_kernel(const Span& span) { return span.counts_as() == EventClass::work && span.kind != EventKind::compile; }
bool is_compiling(const Span& span) { return span.kind == EventKind::compile; }
bool is_waiting(const Span& span) { return span.counts_as() == EventClass::waiting; }
bool is_copying(const Span& span) { return span.counts_as() == EventClass::copying; }

using Wanted = bool (*)(const Span&);

std::map<std::string, KernelTimes> times_by_label(const Trace& trace, Wanted wanted) {
  std::map<std::string, KernelTimes> times;
  for (const Span& span : trace.spans) {
    if (!wanted(span)) continue;
    KernelTimes& of = times[label_of(trace, span)];
    ++of.count;
    of.total += span.length();
    of.longest = std::max(of.longest, span.length());
  }
  return times;
}

/// Adds to the times of kernels how much of them was waiting. Of a lane, nothing overlaps but what lies inside another.
void add_waiting(const Trace& trace, std::map<std::string, KernelTimes>& times) {
  std::map<Lane, const Span*> kernels;
  for (const Span& span : trace.spans) {  // by their begins
    if (is_kernel(span)) kernels[span.lane] = &span;
    if (!is_waiting(span)) continue;
    const auto around = kernels.find(span.lane);
    if (around == kernels.end() || around->second->end < span.end) continue;
    times[label_of(trace, *around->second)].waiting += span.length();
  }
}

void add_table(std::string& text, const Trace& trace, Wanted wanted, const char* title) {
  auto times = times_by_label(trace, wanted);
  if (times.empty()) return;
  const bool of_kernels = wanted == is_kernel;
  if (of_kernels) add_waiting(trace, times);
  std::vector<std::pair<std::string, KernelTimes>> sorted(times.begin(), times.end());
  std::ranges::stable_sort(sorted, std::greater(), [](const auto& entry) { return entry.second.total; });
  std::vector<std::vector<std::string>> rows{{title, "count", "total", "mean", "longest"}};
  if (of_kernels) rows.front().emplace_back("of it waiting");
  for (std::size_t i = 0; i < std::min(sorted.size(), kMostKernels); ++i) {
    const auto& [name, of] = sorted[i];
    rows.push_back({name, fmt::format("{}", of.count), duration(of.total),
                    duration(of.total / static_cast<std::int64_t>(of.count)), duration(of.longest)});
    if (of_kernels) rows.back().push_back(percent(of.waiting, of.total));
  }
  text += "\n" + format_table(rows);
  if (sorted.size() > kMostKernels) text += fmt::format("and {} more\n", sorted.size() - kMostKernels);
}

void add_ranks(std::string& text, const Trace& trace, const Analysis& analysis) {
  std::vector<std::vector<std::string>> rows{
      {"", "from", "to", "kernels", "copies", "waiting", "idle", "waited for", "cores used"}};
  std::size_t shown = 0;
  for (const auto& [rank, times] : analysis.ranks) {
    if (++shown > kMostRanks) break;
    const std::int64_t whole = times.end - times.begin;
    rows.push_back({name_of_rank(trace, rank) + (times.died ? " (did not leave)" : ""), duration(times.begin),
                    duration(times.end), percent(times.kernels, whole), percent(times.copies, whole),
                    percent(times.waiting, whole), percent(times.idle, whole), whom(times),
                    times.parallelism == 0 ? "-" : fmt::format("{:.1f} of {}", times.parallelism, times.cores)});
  }
  text += "\n" + format_table(rows);
  if (analysis.ranks.size() > kMostRanks) text += fmt::format("and {} more\n", analysis.ranks.size() - kMostRanks);
}

/// "rank 2: multiply", "rank 2: in a run, between kernels", "rank 2: its program".
std::string name_of_part(const Trace& trace, const PathPart& part) {
  const std::string rank = name_of_rank(trace, part.rank);
  if (part.span) return fmt::format("{}: {}", rank, label_of(trace, trace.spans[*part.span]));
  if (!part.within) return part.rank == kNoRank ? rank : fmt::format("{}: its program", rank);
  const Span& within = trace.spans[*part.within];
  if (within.kind == EventKind::run) return fmt::format("{}: in a run, between kernels", rank);
  return fmt::format("{}: in {}", rank, label_of(trace, within));
}

void add_critical_path(std::string& text, const Trace& trace, const Analysis& analysis) {
  if (analysis.critical_path.empty()) return;
  std::map<std::string, std::pair<std::int64_t, std::uint64_t>> parts;
  for (const PathPart& part : analysis.critical_path) {
    auto& [ns, count] = parts[name_of_part(trace, part)];
    ns += part.end - part.begin;
    ++count;
  }
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  sorted.reserve(parts.size());
  for (const auto& [name, of] : parts) {
    sorted.emplace_back(of.first, of.second == 1 ? name : fmt::format("{} ({} times)", name, of.second));
  }
  std::ranges::sort(sorted, std::greater());
  std::vector<std::vector<std::string>> rows{{"critical path", "time", "share"}};
  for (std::size_t i = 0; i < std::min(sorted.size(), kMostParts); ++i) {
    rows.push_back({sorted[i].second, duration(sorted[i].first), percent(sorted[i].first, trace.length)});
  }
  text += "\n" + format_table(rows);
  if (sorted.size() > kMostParts) text += fmt::format("and {} more\n", sorted.size() - kMostParts);
}

void add_findings(std::string& text, const Trace& trace, const Analysis& analysis) {
  for (const auto& [rank, times] : analysis.ranks) {
    if (times.chain < kLongChain || static_cast<double>(times.chain) < kChainShare * static_cast<double>(times.tasks)) {
      continue;
    }
    text += fmt::format("\n{}: parallelism {:.1f} of {}, longest chain {} of {} tasks", name_of_rank(trace, rank),
                        times.parallelism, times.cores, times.chain, times.tasks);
    if (!times.chain_tensor.empty())
      text += fmt::format(", because of \"{}\", which each of them uses", times.chain_tensor);
    text += "\n";
  }
}

/// "a"; "b, c (times may be wrong by 23.4 us)", as far as clocks of several hosts can be compared.
std::string where(const Trace& trace) {
  std::vector<std::string> used;
  std::int64_t most = 0;
  for (std::uint32_t host = 0; host < trace.hosts.size(); ++host) {
    const bool has_ranks =
        std::ranges::any_of(trace.host_of_rank, [&](const auto& entry) { return entry.second == host; });
    if (!has_ranks && trace.hosts.size() > 1) continue;
    used.push_back(trace.hosts[host].name);
    most = std::max(most, trace.hosts[host].error);
  }
  std::string text = fmt::format("{}", fmt::join(used, ", "));
  if (most > 0) text += fmt::format(" (times may be wrong by {})", duration(most));
  return text;
}

}  // namespace

std::string duration(std::int64_t ns) {
  const auto value = static_cast<double>(ns);
  if (ns >= 1'000'000'000) return fmt::format("{:.2f} s", value / 1e9);
  if (ns >= 1'000'000) return fmt::format("{:.2f} ms", value / 1e6);
  if (ns >= 1'000) return fmt::format("{:.1f} us", value / 1e3);
  return fmt::format("{} ns", ns);
}

std::string summary(const Trace& trace, const Analysis& analysis) {
  std::string text = fmt::format("{} events of {} process{} on {}, {}\n", trace.spans.size(), trace.processes,
                                 trace.processes == 1 ? "" : "es", where(trace), duration(trace.length));
  if (trace.lost_chunks > 0) text += fmt::format("{} parts of the file could not be read\n", trace.lost_chunks);
  if (trace.events_without_clock > 0) {
    text += fmt::format("{} events more are of hosts whose clocks nobody could compare\n", trace.events_without_clock);
  }
  add_ranks(text, trace, analysis);
  add_table(text, trace, is_kernel, "kernel");
  add_table(text, trace, is_waiting, "wait");
  add_table(text, trace, is_compiling, "compiling");
  add_critical_path(text, trace, analysis);
  add_findings(text, trace, analysis);
  return text;
}

std::string difference(const Trace& trace, const Trace& later) {
  std::vector<std::tuple<std::int64_t, std::string, KernelTimes, KernelTimes>> changes;
  for (const Wanted wanted : {is_kernel, is_waiting, is_copying, is_compiling}) {
    auto before = times_by_label(trace, wanted);
    for (const auto& [name, now] : times_by_label(later, wanted)) {
      changes.emplace_back(now.total - before[name].total, name, before[name], now);
      before.erase(name);
    }
    for (const auto& [name, was] : before) changes.emplace_back(-was.total, name, was, KernelTimes{});
  }
  std::ranges::sort(changes,
                    [](const auto& a, const auto& b) { return std::abs(std::get<0>(a)) > std::abs(std::get<0>(b)); });
  std::string text = fmt::format("{} before, {} now\n\n", duration(trace.length), duration(later.length));
  std::vector<std::vector<std::string>> rows{{"", "change", "before", "now", "count before", "now"}};
  for (std::size_t i = 0; i < std::min(changes.size(), kMostRanks); ++i) {
    const auto& [change, name, was, now] = changes[i];
    rows.push_back({name, fmt::format("{}{}", change < 0 ? "-" : "+", duration(std::abs(change))), duration(was.total),
                    duration(now.total), fmt::format("{}", was.count), fmt::format("{}", now.count)});
  }
  return text + format_table(rows);
}

}  // namespace baton::trace
