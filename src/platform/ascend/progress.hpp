// How far the kernels of a run have come, for those who profile it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <baton/platform.h>

#include "platform/ascend/graph.hpp"

namespace baton::ascend {

/// Kernels that were launched in each stream, when a moment was reached.
using Moment = std::array<std::uint64_t, kKinds>;

/// A launched kernel, with the event behind it, and what of other streams comes before it.
struct Mark {
  std::uint32_t task;
  Handle event;
  Moment behind;
};
/// Those of each stream that the run has not waited for yet, in order.
using Marks = std::array<std::vector<Mark>, kKinds>;

[[nodiscard]] bool has_happened(const Mark& mark);

/// The times are the host's, of its looks at the events: the runtime's own are not in what this is written from.
class Progress {
 public:
  Progress(std::span<const GraphTask> tasks, const BatonRunOptions& options) : tasks_(tasks), options_(options) {}

  [[nodiscard]] bool is_wanted() const noexcept { return options_.note_task != nullptr; }
  void dispatched(std::uint32_t task) const { note(task, BATON_TASK_DISPATCHED); }
  void complete(std::uint32_t task) const { note(task, BATON_TASK_COMPLETE); }
  /// Tells of those that have begun or returned since the last look. `drained`: kernels before the marks.
  void look(const Marks& marks, const Moment& drained);
  /// Whether the kernels of all marks had returned by then.
  [[nodiscard]] bool has_all(const Marks& marks, const Moment& drained) const;

 private:
  void note(std::uint32_t task, std::uint32_t progress) const {
    if (is_wanted()) options_.note_task(options_.context, task, progress);
  }
  /// The next kernel of a stream, once all before it have returned. Whether it has, too.
  bool look_at(std::size_t stream, const Mark& mark);

  std::span<const GraphTask> tasks_;
  const BatonRunOptions& options_;
  Moment returned_{};
  std::array<bool, kKinds> has_started_{};  // the one behind those
};

}  // namespace baton::ascend
