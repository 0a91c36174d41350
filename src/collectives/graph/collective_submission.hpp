// One collective on its way into a graph: checked, cut into pieces and slices, and submitted as tasks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <baton/graph_collectives.hpp>

#include "collectives/direct.hpp"
#include "collectives/graph/collective_kernel.hpp"

namespace baton::collectives {

class CollectiveSubmission {
 public:
  CollectiveSubmission(Graph& graph, const CollectiveRoom& room, Operation operation, const GraphData& x,
                       const GraphData& y, const GraphCollectiveOptions& options, Place where);

  // What kind of collective it is, before submit().
  void reduces(ReduceOp op);
  void rooted(int root);
  /// Blocks for all ranks lie in x, or in y.
  void blocks(int in_x, int in_y);
  /// A message: x to `to`, y from `from`, where these are ranks.
  void message(int to, int from);
  void without_x() { has_x_ = false; }
  void without_y() { has_y_ = false; }

  /// Returns the task that completes y.
  TaskId submit();

 private:
  [[nodiscard]] std::string_view name() const;
  [[noreturn]] void refuse(const std::string& why) const;
  [[nodiscard]] std::string place() const;
  void check(const Tensor& tensor, const char* which, bool present, int blocks) const;
  void check_apart() const;
  /// The window of this data if others can use it where it is; data in windows of other domains is data anywhere.
  [[nodiscard]] const RawWindow* window_of(const GraphData& data, const char* which) const;
  [[nodiscard]] bool is_message() const { return operation_ == Operation::barrier; }
  [[nodiscard]] bool is_on_device() const { return !room_.device_platform().empty(); }
  void choose();

  TaskId submit_in_windows();
  TaskId submit_window_slice(int slice);
  /// What all members must agree on; never 0.
  [[nodiscard]] std::uint64_t place_in_windows() const;

  TaskId submit_through_room();
  TaskId submit_piece(std::uint64_t first, std::uint64_t count);
  /// The slice that completes y.
  [[nodiscard]] int completing_slice(int slices) const;
  TaskId submit_slice(int slice, int slices, std::uint64_t first, std::uint64_t count);
  [[nodiscard]] const Kernel& kernel() const;

  [[nodiscard]] Slice slice_of(int slice, int slices) const;
  /// A rank without a tensor passes anything, or nothing; the kernel does not touch it.
  [[nodiscard]] Argument untouched(const Tensor& tensor) const;
  [[nodiscard]] TaskOptions task_options(int slice) const;

  Graph& graph_;
  const CollectiveRoom& room_;
  Operation operation_;
  Tensor x_;
  Tensor y_;
  const RawWindow* x_window_ = nullptr;
  const RawWindow* y_window_ = nullptr;
  const GraphCollectiveOptions& options_;
  Place where_;
  ReduceOp op_ = ReduceOp::sum;
  int root_ = 0;
  int from_ = -1;
  int x_blocks_ = 1;
  int y_blocks_ = 1;
  int room_blocks_ = 1;
  bool has_x_ = true;
  bool has_y_ = true;
  Element element_ = Element::uint8;
  Algorithm algorithm_ = Algorithm::automatic;
  /// Of the data that the members use where it lies, if they do.
  DirectNeeds needs_{.input = true, .output = false};
  bool is_direct_ = false;
  std::uint64_t count_ = 0;
};

}  // namespace baton::collectives
