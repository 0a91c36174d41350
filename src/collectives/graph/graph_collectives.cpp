#include <baton/graph_collectives.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <baton/error.hpp>
#include <collectives/member.hpp>

#include "collectives/graph/collective_kernel.hpp"
#include "collectives/graph/collective_submission.hpp"
#include "collectives/graph/device_kernels.hpp"
#include "collectives/graph/elements.hpp"

namespace baton {
namespace {

using collectives::address_of;
using collectives::bytes_of;
using collectives::CollectiveSubmission;
using collectives::device_kernel;
using collectives::DeviceTask;
using collectives::element_of;
using collectives::Operation;
using collectives::Slice;

constexpr Kernel kBarrier = {"barrier", baton_barrier_kernel, nullptr, BATON_CORE_VECTOR, 0};
constexpr Kernel kAllToAllV = {"all_to_all_v", baton_all_to_all_v_kernel, nullptr, BATON_CORE_VECTOR, 0};

void check_all_to_all_v(const CollectiveRoom& room, const Tensor& x, const Tensor& send_counts, const Tensor& y,
                        const Tensor& receive_counts, const Place& where) {
  const auto refuse = [&](const std::string& why) {
    throw Error(Code::invalid_argument, fmt::format("all_to_all_v: {}", why),
                {fmt::format("submitted at {}:{}", where.file, where.line)});
  };
  for (const Tensor* tensor : {&x, &send_counts, &y, &receive_counts}) {
    if (!tensor->is_contiguous()) refuse(fmt::format("a tensor is not contiguous: {}", tensor->describe()));
  }
  if (x.dtype() != y.dtype()) refuse(fmt::format("x has {}, y has {}", name_of(x.dtype()), name_of(y.dtype())));
  for (const Tensor* counts : {&send_counts, &receive_counts}) {
    if (counts->dtype() != DType::int32 || counts->element_count() != room.size()) {
      refuse(fmt::format("counts are {} int32, one for each rank; got {}", room.size(), counts->describe()));
    }
  }
  if (!collectives::lie_apart(Operation::all_to_all_v, room.rank(), address_of(x), bytes_of(x), address_of(y),
                              bytes_of(y))) {
    refuse(fmt::format("x and y overlap: {} and {}", x.describe(), y.describe()));
  }
}

std::size_t signal_bytes(int ranks, int blocks) {
  return static_cast<std::size_t>(collectives::signals_needed(ranks) * blocks) * sizeof(std::int32_t);
}

}  // namespace

CollectiveRoom::CollectiveRoom(const Domain& me, const CollectiveRoomOptions& options)
    : domain_(me),
      blocks_(std::max(1, options.blocks)),
      block_bytes_(options.bytes / static_cast<std::size_t>(blocks_) / 64 * 64),
      window_(domain_.raw_window(window_name(), bytes())),
      context_(window_.context()),
      tensor_(Tensor::over(std::span<std::byte>(window_.local(), bytes()))) {}

CollectiveRoom::CollectiveRoom(Chip& chip, const Domain& me, const CollectiveRoomOptions& options)
    : domain_(me),
      blocks_(std::max(1, options.blocks)),
      block_bytes_(options.bytes / static_cast<std::size_t>(blocks_) / 64 * 64),
      chip_window_(chip.window(me, window_name(), bytes())),
      context_(chip_window_.context()),
      tensor_(Buffer{.address = reinterpret_cast<std::uint64_t>(chip_window_.local()), .bytes = bytes()}, DType::uint8,
              {static_cast<std::int64_t>(bytes())}),
      device_platform_(options.compiled || !collectives::has_host_kernels(chip.platform()) ? chip.platform() : "") {}

std::size_t CollectiveRoom::bytes() const {
  return signal_bytes(size(), blocks_) + block_bytes_ * static_cast<std::size_t>(blocks_);
}

/// Members that make it for different numbers of blocks learn of it by the name.
std::string CollectiveRoom::window_name() const {
  return blocks_ == 1 ? "collective room" : fmt::format("collective room of {} blocks", blocks_);
}

TaskId allreduce(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y, ReduceOp op,
                 const GraphCollectiveOptions& options, Place where) {
  CollectiveSubmission submission(graph, room, Operation::allreduce, x, y, options, where);
  submission.reduces(op);
  return submission.submit();
}

TaskId reduce(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y, int root, ReduceOp op,
              const GraphCollectiveOptions& options, Place where) {
  CollectiveSubmission submission(graph, room, Operation::reduce, x, y, options, where);
  submission.reduces(op);
  submission.rooted(root);
  if (room.rank() != root) submission.without_y();
  return submission.submit();
}

TaskId broadcast(Graph& graph, const CollectiveRoom& room, const GraphData& x, int root,
                 const GraphCollectiveOptions& options, Place where) {
  CollectiveSubmission submission(graph, room, Operation::broadcast, x, x, options, where);
  submission.rooted(root);
  if (room.rank() == root) {
    submission.without_y();
  } else {
    submission.without_x();
  }
  return submission.submit();
}

TaskId reduce_scatter(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y, ReduceOp op,
                      const GraphCollectiveOptions& options, Place where) {
  CollectiveSubmission submission(graph, room, Operation::reduce_scatter, x, y, options, where);
  submission.reduces(op);
  submission.blocks(room.size(), 1);
  return submission.submit();
}

TaskId allgather(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y,
                 const GraphCollectiveOptions& options, Place where) {
  CollectiveSubmission submission(graph, room, Operation::allgather, x, y, options, where);
  submission.blocks(1, room.size());
  return submission.submit();
}

TaskId gather(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y, int root,
              const GraphCollectiveOptions& options, Place where) {
  CollectiveSubmission submission(graph, room, Operation::gather, x, y, options, where);
  submission.rooted(root);
  submission.blocks(1, room.size());
  if (room.rank() != root) submission.without_y();
  return submission.submit();
}

TaskId scatter(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y, int root,
               const GraphCollectiveOptions& options, Place where) {
  CollectiveSubmission submission(graph, room, Operation::scatter, x, y, options, where);
  submission.rooted(root);
  submission.blocks(room.size(), 1);
  if (room.rank() != root) submission.without_x();
  return submission.submit();
}

TaskId all_to_all(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y,
                  const GraphCollectiveOptions& options, Place where) {
  CollectiveSubmission submission(graph, room, Operation::all_to_all, x, y, options, where);
  submission.blocks(room.size(), room.size());
  return submission.submit();
}

TaskId barrier(Graph& graph, const CollectiveRoom& room, const GraphCollectiveOptions& options, Place where) {
  const auto submit = [&](const Kernel& kernel, int slice) {
    Slice what{};
    what.slice = static_cast<std::int8_t>(slice);
    what.slices = collectives::kBarrierSlices;
    const Argument arguments[] = {Argument(Access::inout, room.tensor()),
                                  reinterpret_cast<std::uint64_t>(room.context()), what, room.blocks()};
    return graph.submit_arguments(
        kernel, arguments, {.priority = options.priority, .after = slice <= 0 ? options.after : std::vector<TaskId>()},
        where);
  };
  if (!room.device_platform().empty()) {
    return submit(device_kernel(room.device_platform(), {.kind = DeviceTask::Kind::barrier}).get(),
                  collectives::kWhole);
  }
  TaskId last = 0;
  for (int slice = 0; slice < collectives::kBarrierSlices - 1; ++slice) last = submit(kBarrier, slice);
  return last;
}

TaskId all_to_all_v(Graph& graph, const CollectiveRoom& room, const Tensor& x, const Tensor& send_counts,
                    const Tensor& y, const Tensor& receive_counts, const GraphCollectiveOptions& options, Place where) {
  check_all_to_all_v(room, x, send_counts, y, receive_counts, where);
  const auto submit = [&](const Kernel& kernel, int slice) {
    Slice what{};
    what.operation = Operation::all_to_all_v;
    what.element = element_of(x.dtype());
    what.slice = static_cast<std::int8_t>(slice);
    what.slices = collectives::kAllToAllVSlices;
    const bool works = slice < collectives::kAllToAllVSlices - 1;
    const bool writes = works && slice != 0;
    const auto reading = [&](const Tensor& tensor) {
      return Argument(works ? Access::in : Access::no_dependency, tensor);
    };
    const Argument arguments[] = {reading(x),
                                  // What nobody sends to stays as it is.
                                  Argument(writes ? Access::inout : Access::no_dependency, y),
                                  Argument(Access::inout, room.tensor()), reading(send_counts), reading(receive_counts),
                                  reinterpret_cast<std::uint64_t>(room.context()), what, room.blocks(),
                                  room.block_bytes() * static_cast<std::size_t>(room.blocks()), x.element_count(),
                                  y.element_count()};
    return graph.submit_arguments(
        kernel, arguments, {.priority = options.priority, .after = slice <= 0 ? options.after : std::vector<TaskId>()},
        where);
  };
  if (!room.device_platform().empty()) {
    const DeviceTask task{.kind = DeviceTask::Kind::all_to_all_v, .element = element_of(x.dtype())};
    return submit(device_kernel(room.device_platform(), task).get(), collectives::kWhole);
  }
  static_cast<void>(submit(kAllToAllV, 0));
  const TaskId completes_y = submit(kAllToAllV, 1);
  static_assert(collectives::kAllToAllVSlices == 3);
  static_cast<void>(submit(kAllToAllV, 2));
  return completes_y;
}

TaskId send(Graph& graph, const CollectiveRoom& room, const Tensor& x, int to, const GraphCollectiveOptions& options,
            Place where) {
  CollectiveSubmission submission(graph, room, Operation::barrier, x, x, options, where);
  submission.message(to, -1);
  return submission.submit();
}

TaskId recv(Graph& graph, const CollectiveRoom& room, const Tensor& y, int from, const GraphCollectiveOptions& options,
            Place where) {
  CollectiveSubmission submission(graph, room, Operation::barrier, y, y, options, where);
  submission.message(-1, from);
  return submission.submit();
}

TaskId send_recv(Graph& graph, const CollectiveRoom& room, const Tensor& x, int to, const Tensor& y, int from,
                 const GraphCollectiveOptions& options, Place where) {
  CollectiveSubmission submission(graph, room, Operation::barrier, x, y, options, where);
  submission.message(to, from);
  return submission.submit();
}

}  // namespace baton
