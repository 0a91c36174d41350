#include <fmt/format.h>

#include <baton/signal.hpp>

#include "trace/export.hpp"

namespace baton::trace {
namespace {

constexpr std::uint64_t kTaskNumber = (std::uint64_t{1} << 40U) - 1;

std::string_view outcome_of(const Span& span) {
  if (span.open) return "had not ended";
  switch (span.outcome) {
    case EventOutcome::done: break;
    case EventOutcome::deferred: return "deferred";
    case EventOutcome::failed: return "failed";
    case EventOutcome::not_run: return "not run";
    case EventOutcome::expired: return "the deadline passed";
  }
  return {};
}

std::string numbers_of(const Trace& trace, const Span& span) {
  switch (span.kind) {
    case EventKind::put:
    case EventKind::get: return fmt::format("{} bytes, byte {} of rank {}", span.c, span.b, span.a);
    case EventKind::notify:
      return fmt::format("signal {} of rank {} has {} by it", span.b, span.a, static_cast<std::int32_t>(span.c));
    case EventKind::deferral:
      return fmt::format(
          "signal {} of rank {} needs >= {}; the task has waited for it for {}, and the chip had nothing "
          "else to do at the end",
          span.b, span.a, static_cast<std::int32_t>(span.c), duration(span.end - static_cast<std::int64_t>(span.d)));
    case EventKind::allocation: return fmt::format("{} bytes on each of {} ranks", span.c, span.b);
    case EventKind::wait: {
      const std::uint64_t comparison = span.c >> 32U;
      return fmt::format(
          "signal {} of rank {} needs {} {}, had {} at the end", span.b, span.a,
          comparison <= static_cast<std::uint64_t>(WaitCmp::le) ? symbol_of(static_cast<WaitCmp>(comparison)) : ">=",
          static_cast<std::int32_t>(span.c), static_cast<std::int32_t>(span.d));
    }
    case EventKind::barrier: return fmt::format("barrier {} of {} ranks", span.a, span.b);
    case EventKind::collective: return fmt::format("{} bytes, {} ranks", span.a, span.c);
    case EventKind::compile: return std::string(trace.text(span.object));
    case EventKind::task: {
      const auto since = [&](std::uint64_t time) { return duration(span.begin - static_cast<std::int64_t>(time)); };
      const std::int64_t later = static_cast<std::int64_t>(span.d) - span.end;
      return fmt::format("task {}, submitted {} and ready {} before it began{}", span.a & kTaskNumber, since(span.b),
                         since(span.c),
                         later == 0 ? "" : fmt::format(", complete {} after it returned", duration(later)));
    }
    case EventKind::kernel: return fmt::format("block {} of task {}", span.b, span.a & kTaskNumber);
    case EventKind::copy: return fmt::format("{} bytes to {}", span.a, trace.text(span.object));
    case EventKind::node_task: return fmt::format("task {} of the node", span.a);
    case EventKind::node_run: return fmt::format("{} tasks", span.a);
    case EventKind::joined: return fmt::format("{} of {} ranks", trace.text(span.object), span.a);
    case EventKind::process: return fmt::format("{}, pid {}", trace.text(span.object), span.a);
    default: return {};
  }
}

}  // namespace

std::string details_of(const Trace& trace, const Span& span) {
  std::string text = numbers_of(trace, span);
  if (const std::string_view outcome = outcome_of(span); !outcome.empty()) {
    text += text.empty() ? std::string(outcome) : fmt::format("; {}", outcome);
  }
  return text;
}

}  // namespace baton::trace
