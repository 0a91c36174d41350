// One report of what all ranks of a job do, for when they do not get on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_area.hpp"
#include "comm/wait_graph.hpp"
#include "wire/control.hpp"

namespace baton::comm {

class World;

/// What the host of a rank said of its process when it was asked.
enum class ProcessSeen : std::uint8_t {
  nothing,  // it was not asked
  runs,     // or sleeps
  stopped,
  ended,
  silent,  // the host did not answer
};
using ProcessState = std::atomic<ProcessSeen>;

/// A control segment that may belong to others, who may write anything to it at any time: `bytes` of it are mapped.
struct ControlView {
  const wire::ControlHeader* header;
  std::size_t bytes;
  /// By rank, where the segment is made of what the hosts of a job said; else empty.
  std::span<const ProcessState> processes{};
};

/// The line above a report in the notes of an error.
inline constexpr std::string_view kHangReportTitle = "all ranks of the job:";

/// What the ranks of a job do now.
struct HangReport {
  WaitGraph graph;
  std::vector<std::uint32_t> stuck;  // who cannot get on whatever the others do
  /// Who waits for what, who could end it and what they do, who notified last and where; the cycle, if there is one;
  /// the last events of those who wait. Further lines of an entry are indented.
  std::vector<std::string> lines;
};

/// `own` are the events of this process, where all ranks of the job live in it.
[[nodiscard]] HangReport report_hang(const ControlView& control, const LastEvents* own = nullptr);

/// The lines of the caller's job, with the title.
[[nodiscard]] std::vector<std::string> describe_all_ranks(World& world);
/// What is told of the job of this name when no rank can go on.
[[nodiscard]] std::string deadlock_sentence(std::string_view job);
/// A warning with both.
void tell_deadlock(World& world);

}  // namespace baton::comm
