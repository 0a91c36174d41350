#include "trace/trace.hpp"

#include <fmt/format.h>

#include <baton/signal.hpp>

namespace baton::trace {

namespace {

/// "moe[3]" of "moe[3]+16960": copies to a thousand places of one part are one thing to look at.
std::string_view without_offset(std::string_view where) {
  const std::size_t digits = where.find_last_not_of("0123456789");
  return digits != std::string_view::npos && where[digits] == '+' ? where.substr(0, digits) : where;
}

/// "scale.cpp" of "kernels/scale.cpp".
std::string_view without_folder(std::string_view file) { return file.substr(file.rfind('/') + 1); }

}  // namespace

EventClass Span::counts_as() const noexcept {
  // The kernels of such a task have events of their own.
  if (kind == EventKind::task && lane.lane == kProgramLane) return EventClass::mark;
  return info_of(kind).counts_as;
}

std::string name_of_rank(const Trace& trace, std::uint32_t rank) {
  if (rank == kNoRank) return "program";
  if (trace.hosts.size() == 1) return fmt::format("rank {}", rank);
  return fmt::format("rank {} on {}", rank, trace.host_of(rank).name);
}

std::string name_of_lane(const Trace& trace, const Lane& lane) {
  if (lane.lane == kProgramLane) return "program";
  if (lane.lane >= kFirstEngineLane) return fmt::format("engine {}", lane.lane - kFirstEngineLane);
  const auto named = trace.lane_names.find(lane);
  return named == trace.lane_names.end() ? fmt::format("core {}", lane.lane - 1) : named->second;
}

std::string label_of(const Trace& trace, const Span& span) {
  const std::string_view object = trace.text(span.object);
  switch (span.kind) {
    case EventKind::task: return object.empty() ? "(no kernel)" : std::string(object);
    case EventKind::kernel: return std::string(object);
    case EventKind::wait:
    case EventKind::deferral: return fmt::format("wait {}[{}]", object, span.b);
    case EventKind::allocation: return fmt::format("make window {}", object);
    case EventKind::notify: return fmt::format("notify {}[{}]", object, span.b);
    case EventKind::put:
    case EventKind::get: return fmt::format("{} {}", info_of(span.kind).name, object);
    case EventKind::barrier: return fmt::format("barrier of {}", object);
    case EventKind::reach:
      return span.a == kAllOwners ? fmt::format("wait for all of {}", object) : fmt::format("wait for rank {}", span.a);
    case EventKind::collective: return fmt::format("{} ({})", object, trace.text(static_cast<Text>(span.b)));
    case EventKind::node_task: return fmt::format("task {}", object);
    case EventKind::compile: return fmt::format("{} {}", span.a != 0 ? "find" : "compile", without_folder(object));
    case EventKind::copy: return fmt::format("copy to {}", without_offset(object));
    default: break;
  }
  return std::string(info_of(span.kind).name);
}

}  // namespace baton::trace
