// Collectives in a graph: tasks of all members' chips that do something together with their tensors.
//
// Every member submits the same collectives to the same room in the same order. By default a collective is a few short
// tasks that wait for the other ranks without a core: other tasks run meanwhile. Edges are found as for any other task.
// Members that submit different things to a room learn of it when the tasks run: run() throws mismatch on all of them,
// with both calls, and the room is of no use any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <baton/chip.hpp>
#include <baton/chip_window.hpp>
#include <baton/collective_types.hpp>
#include <baton/domain.hpp>
#include <baton/export.hpp>
#include <baton/graph.hpp>
#include <baton/place.hpp>
#include <baton/tensor.hpp>
#include <baton/window.hpp>

namespace baton {

struct CollectiveRoomOptions {
  /// Room for data, on every rank, for all blocks together. Data passes through it in pieces.
  std::size_t bytes = std::size_t{1} << 20U;
  /// Cores that may work on one collective.
  int blocks = 1;
  /// Kernels of tile instructions, compiled when they are first used, also on chips that run those of libbaton: what a
  /// GPU does, on a simulated chip.
  bool compiled = false;
};

/// Memory of a domain through which the data of its graphs' collectives passes. Collectives of one room follow each
/// other; those of different rooms go on side by side. Must outlive the graphs that use it.
class BATON_API CollectiveRoom {
 public:
  /// Collective over the domain. For chips whose tensors lie on the host.
  explicit CollectiveRoom(const Domain& me, const CollectiveRoomOptions& options = {});
  /// The same for any chip: the room lies where its kernels reach it. All members' chips are of one platform. Where
  /// they do not run code of the host, the kernel of a collective is compiled when the first one of its kind is
  /// submitted, and a collective keeps its cores until it is done; so it does if CollectiveRoomOptions::compiled asks
  /// for that.
  CollectiveRoom(Chip& chip, const Domain& me, const CollectiveRoomOptions& options = {});

  [[nodiscard]] const Domain& domain() const noexcept { return domain_; }
  [[nodiscard]] int rank() const { return domain_.rank(); }
  [[nodiscard]] int size() const { return domain_.size(); }
  [[nodiscard]] int blocks() const noexcept { return blocks_; }
  /// Of the data of one block.
  [[nodiscard]] std::size_t block_bytes() const noexcept { return block_bytes_; }
  [[nodiscard]] const Tensor& tensor() const noexcept { return tensor_; }
  [[nodiscard]] const CommContext* context() const noexcept { return context_; }
  /// What kernels are compiled for; empty: they are those of libbaton.
  [[nodiscard]] const std::string& device_platform() const noexcept { return device_platform_; }

 private:
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::string window_name() const;

  Domain domain_;
  int blocks_;
  std::size_t block_bytes_;
  RawWindow window_;  // one of the two
  ChipWindow chip_window_;
  const CommContext* context_;
  Tensor tensor_;
  std::string device_platform_;
};

/// Data of a collective in a graph: a tensor anywhere, which passes through the room, or one in a window, which is used
/// where it is. A view: tensor and window must outlive the call that it is passed to, and the window the graph.
class GraphData {
 public:
  GraphData(const Tensor& tensor) : tensor_(tensor) {}  // NOLINT(google-explicit-constructor): passed as it is
  /// In this rank's own part of `window`. All ranks name the same place of the same window of the room's domain, also
  /// those that have no data in it.
  GraphData(const RawWindow& window, const Tensor& tensor) : tensor_(tensor), window_(&window) {}
  template <class T>
  GraphData(const Window<T>& window)  // NOLINT(google-explicit-constructor): passed as it is
      : GraphData(window, Tensor::over(std::span<T>(window.data(), window.size()))) {}

  [[nodiscard]] const Tensor& tensor() const noexcept { return tensor_; }
  /// Null for a tensor anywhere.
  [[nodiscard]] const RawWindow* window() const noexcept { return window_; }

 private:
  Tensor tensor_;
  const RawWindow* window_ = nullptr;
};

struct GraphCollectiveOptions {
  /// automatic, one_phase and mesh wait without a core. The others are one task that keeps its cores until it is done.
  Algorithm algorithm = Algorithm::automatic;
  std::int32_t priority = 0;
  /// It waits for these, too.
  std::vector<TaskId> after = {};
};

/// y of every rank = x of all ranks, reduced. y may be x. Tensors are contiguous; elements are float32, float16,
/// bfloat16, int16 and int32, avg of floats only. Returns the task that completes y.
BATON_API TaskId allreduce(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y,
                           ReduceOp op = ReduceOp::sum, const GraphCollectiveOptions& options = {},
                           Place where = Place::here());
/// y of `root` = x of all ranks, reduced. The others pass any y, which stays as it is.
BATON_API TaskId reduce(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y, int root,
                        ReduceOp op = ReduceOp::sum, const GraphCollectiveOptions& options = {},
                        Place where = Place::here());
/// x of every rank = x of `root`. Elements of any type, here and below where nothing is reduced.
BATON_API TaskId broadcast(Graph& graph, const CollectiveRoom& room, const GraphData& x, int root,
                           const GraphCollectiveOptions& options = {}, Place where = Place::here());
/// y = this rank's block of x, reduced over all ranks. x has a block of y's size for each rank.
BATON_API TaskId reduce_scatter(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y,
                                ReduceOp op = ReduceOp::sum, const GraphCollectiveOptions& options = {},
                                Place where = Place::here());
/// y = the blocks x of all ranks, by rank.
BATON_API TaskId allgather(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y,
                           const GraphCollectiveOptions& options = {}, Place where = Place::here());
/// y of `root` = the blocks x of all ranks, by rank. The others pass any y.
BATON_API TaskId gather(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y, int root,
                        const GraphCollectiveOptions& options = {}, Place where = Place::here());
/// y = this rank's block of the x of `root`. The others pass any x.
BATON_API TaskId scatter(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y, int root,
                         const GraphCollectiveOptions& options = {}, Place where = Place::here());
/// Block r of x becomes this rank's block in the y of rank r.
BATON_API TaskId all_to_all(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y,
                            const GraphCollectiveOptions& options = {}, Place where = Place::here());

/// Block r of x, send_counts[r] elements, becomes this rank's block in the y of rank r, where receive_counts says how
/// long it is. Blocks are contiguous; x and y may be longer, and must not overlap. Counts are int32 that
/// tasks may have written, one for each rank. Waits without a core as long as the x of every rank fits into the room.
BATON_API TaskId all_to_all_v(Graph& graph, const CollectiveRoom& room, const Tensor& x, const Tensor& send_counts,
                              const Tensor& y, const Tensor& receive_counts, const GraphCollectiveOptions& options = {},
                              Place where = Place::here());
/// The task is complete when this task of all ranks has begun. Edges to others are named: `after` in the options, and
/// TaskOptions::after with what this returns.
BATON_API TaskId barrier(Graph& graph, const CollectiveRoom& room, const GraphCollectiveOptions& options = {},
                         Place where = Place::here());

/// A message to, or from, another rank, which submits the other half of it with as many elements. The room is free for
/// the next when the message has been taken: ranks that send to each other submit send_recv(), or use two rooms.
BATON_API TaskId send(Graph& graph, const CollectiveRoom& room, const Tensor& x, int to,
                      const GraphCollectiveOptions& options = {}, Place where = Place::here());
BATON_API TaskId recv(Graph& graph, const CollectiveRoom& room, const Tensor& y, int from,
                      const GraphCollectiveOptions& options = {}, Place where = Place::here());
/// Both at once: x to `to`, y from `from`.
BATON_API TaskId send_recv(Graph& graph, const CollectiveRoom& room, const Tensor& x, int to, const Tensor& y, int from,
                           const GraphCollectiveOptions& options = {}, Place where = Place::here());

}  // namespace baton
