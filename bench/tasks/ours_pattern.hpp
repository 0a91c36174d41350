// A pattern on a chip: cells are slices of one buffer, and the runtime finds the edges.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <baton/chip.hpp>

#include "tasks/contender.hpp"

namespace bench {

/// Tensors come first, so which argument is the task depends on how many there are.
template <std::size_t kTensors>
void run_body(std::int64_t* args) {
  body(*reinterpret_cast<const PatternTask*>(args[kTensors]));
}

/// Inputs or a range of them, and the output.
constexpr std::size_t kMostTensors = PatternTask::kMostReads + 2;

[[nodiscard]] inline const baton::Kernel& kernel_for(std::size_t tensors) {
  static const auto kernels = []<std::size_t... kCounts>(std::index_sequence<kCounts...>) {
    return std::array{baton::Kernel{"body", run_body<kCounts>, nullptr, BATON_CORE_VECTOR, 0}...};
  }
  (std::make_index_sequence<kMostTensors + 1>{});
  return kernels[tensors];
}

class PatternOnChip {
 public:
  PatternOnChip(baton::Chip& chip, const Pattern& pattern)
      : chip_(chip), buffer_(chip.alloc<std::int64_t>({pattern.cells * kCellLength})) {
    cells_.reserve(pattern.cells);
    for (std::int64_t i = 0; i < pattern.cells; ++i) cells_.push_back(slice(i, 1));
  }

  Times run_once(const Pattern& pattern) {
    Times times;
    chip_.run([&](baton::Graph& graph) {
      for (const PatternTask& task : pattern.tasks) submit(graph, task);
      times.all_submitted();
    });
    times.all_done();
    return times;
  }

  [[nodiscard]] baton::CapturedGraph capture(const Pattern& pattern) {
    return chip_.capture([&](baton::Graph& graph) {
      for (const PatternTask& task : pattern.tasks) submit(graph, task);
    });
  }
  Times replay_once(baton::CapturedGraph& graph) {
    Times times;
    times.all_submitted();
    chip_.run(graph);
    times.all_done();
    return times;
  }

  void submit(baton::Graph& graph, const PatternTask& task) const {
    using baton::Access;
    using baton::Argument;
    const Argument output(task.update ? Access::inout : Access::out, cells_[task.write]);
    // As somebody would write it who knows the task.
    if (task.read_count == 0 && task.range_count == 0) {
      graph.submit(kernel_for(1), {output, &task}, options_);
      return;
    }
    std::array<Argument, kMostTensors + 1> arguments = {0, 0, 0, 0, 0, 0, 0, 0};
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < task.read_count; ++i) {
      arguments[count++] = Argument(Access::in, cells_[task.reads[i]]);
    }
    baton::Tensor range;
    if (task.range_count != 0) {
      range = slice(task.range, task.range_count);
      arguments[count++] = Argument(Access::in, range);
    }
    arguments[count++] = output;
    const baton::Kernel& kernel = kernel_for(count);
    arguments[count++] = Argument(&task);
    graph.submit_arguments(kernel, {arguments.data(), count}, options_);
  }

 private:
  /// A cache line.
  static constexpr std::int64_t kCellLength = 8;

  [[nodiscard]] baton::Tensor slice(std::int64_t first, std::int64_t count) const {
    return buffer_.slice(first * kCellLength, (first + count) * kCellLength);
  }

  baton::Chip& chip_;
  baton::Tensor buffer_;
  std::vector<baton::Tensor> cells_;
  baton::TaskOptions options_;
};

}  // namespace bench
