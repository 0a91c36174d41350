#include <baton/graph_collectives.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <baton/error.hpp>
#include <collectives/member.hpp>
#include <collectives/operations.hpp>

#include "collectives/call.hpp"
#include "collectives/direct.hpp"
#include "collectives/graph/collective_kernel.hpp"
#include "collectives/graph/elements.hpp"

namespace baton {
namespace {

using collectives::element_of;
using collectives::kWhole;
using collectives::Operation;
using collectives::Slice;

/// By operation, so that traces name them.
constexpr Kernel kernel_named(const char* name, BatonKernelFunction function = baton_collective_kernel) {
  return {name, function, nullptr, BATON_CORE_VECTOR, 0};
}
constexpr std::array<Kernel, collectives::kOperations> kKernels = {kernel_named("message", baton_message_kernel),
                                                                   kernel_named("broadcast"),
                                                                   kernel_named("reduce"),
                                                                   kernel_named("allreduce"),
                                                                   kernel_named("reduce_scatter"),
                                                                   kernel_named("allgather"),
                                                                   kernel_named("gather"),
                                                                   kernel_named("scatter"),
                                                                   kernel_named("all_to_all"),
                                                                   kernel_named("all_to_all_v")};
constexpr std::array<Kernel, collectives::kOperations> in_windows(
    std::array<Kernel, collectives::kOperations> kernels) {
  for (Kernel& kernel : kernels) kernel = kernel_named(kernel.name, baton_window_collective_kernel);
  return kernels;
}
constexpr std::array<Kernel, collectives::kOperations> kWindowKernels = in_windows(kKernels);
constexpr Kernel kBarrier = kernel_named("barrier", baton_barrier_kernel);
constexpr Kernel kAllToAllV = kernel_named("all_to_all_v", baton_all_to_all_v_kernel);

/// One collective on its way into a graph.
class Submission {
 public:
  Submission(Graph& graph, const CollectiveRoom& room, Operation operation, const GraphData& x, const GraphData& y,
             const GraphCollectiveOptions& options, Place where)
      : graph_(graph),
        room_(room),
        operation_(operation),
        x_(x.tensor()),
        y_(y.tensor()),
        options_(options),
        where_(where) {
    x_window_ = window_of(x, "x");
    y_window_ = window_of(y, "y");
  }

  void reduces(ReduceOp op) {
    op_ = op;
    if (!collectives::can_combine(element_of(x_.dtype()), op)) {
      refuse(fmt::format("chips have no {} of {}", collectives::name_of(op), name_of(x_.dtype())));
    }
  }
  void rooted(int root) {
    root_ = root;
    if (root < 0 || root >= room_.size()) {
      throw Error(Code::out_of_range, fmt::format("{}: rank {} is outside 0..{}", name(), root, room_.size() - 1),
                  {place()});
    }
  }
  /// Blocks for all ranks lie in x, or in y.
  void blocks(int in_x, int in_y) {
    x_blocks_ = in_x;
    y_blocks_ = in_y;
  }
  /// A message: x to `to`, y from `from`, where these are ranks.
  void message(int to, int from) {
    root_ = to;
    from_ = from;
    for (const int partner : {to, from}) {
      if (partner < -1 || partner >= room_.size() || partner == room_.rank()) {
        throw Error(Code::out_of_range,
                    fmt::format("a message between rank {} and rank {} of {}", room_.rank(), partner, room_.size()),
                    {place()});
      }
    }
    has_x_ = to >= 0;
    has_y_ = from >= 0;
  }
  void without_x() { has_x_ = false; }
  void without_y() { has_y_ = false; }

  TaskId submit() {
    const Tensor& one = has_x_ ? x_ : y_;
    const int one_blocks = has_x_ ? x_blocks_ : y_blocks_;
    element_ = element_of(one.dtype());
    const std::int64_t all = one.element_count();
    if (all % one_blocks != 0) refuse(fmt::format("{} elements are no {} blocks", all, one_blocks));
    count_ = static_cast<std::uint64_t>(all / one_blocks);
    check(x_, "x", has_x_, x_blocks_);
    check(y_, "y", has_y_, y_blocks_);
    choose();
    if (is_direct_) return submit_in_windows();
    // Shares of a piece are whole cache lines: one may have two more than the piece has on average.
    const auto room_blocks = static_cast<std::uint64_t>(std::max({x_blocks_, room_blocks_, 1}));
    const std::size_t element_bytes = size_of(element_);
    const std::uint64_t share = room_.block_bytes() / room_blocks / element_bytes;
    const std::uint64_t line = 64 / element_bytes;
    if (share <= 2 * line) {
      refuse(fmt::format("the room has {} bytes for each block; {} are needed at least", room_.block_bytes(),
                         (2 * line + 1) * room_blocks * element_bytes));
    }
    const std::uint64_t piece = (share - 2 * line) * static_cast<std::uint64_t>(room_.blocks());
    // The others learn of nothing, too: it may not be what they called.
    if (count_ == 0) has_x_ = has_y_ = false;
    TaskId last = 0;
    std::uint64_t first = 0;
    do {
      last = submit_piece(first, std::min(piece, count_ - first));
      first += piece;
    } while (first < count_);
    return last;
  }

 private:
  [[nodiscard]] std::string_view name() const { return is_message() ? "message" : collectives::name_of(operation_); }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(Code::invalid_argument, fmt::format("{}: {}", name(), why), {place()});
  }
  [[nodiscard]] std::string place() const { return fmt::format("submitted at {}:{}", where_.file, where_.line); }

  void check(const Tensor& tensor, const char* which, bool present, int blocks) const {
    if (!present) return;
    if (!tensor.is_contiguous()) refuse(fmt::format("`{}` is not contiguous: {}", which, tensor.describe()));
    const std::uint64_t needed = count_ * static_cast<std::uint64_t>(blocks);
    if (element_of(tensor.dtype()) != element_ || static_cast<std::uint64_t>(tensor.element_count()) != needed) {
      refuse(fmt::format("`{}` has {} {}, but {} {} are needed", which, tensor.element_count(), name_of(tensor.dtype()),
                         needed, collectives::name_of(element_)));
    }
  }

  /// The window of this data if others can use it where it is; data in windows of other domains is data anywhere.
  [[nodiscard]] const RawWindow* window_of(const GraphData& data, const char* which) const {
    const RawWindow* window = data.window();
    if (window == nullptr) return nullptr;
    const Tensor& tensor = data.tensor();
    const std::size_t bytes = static_cast<std::size_t>(tensor.element_count()) * size_of(tensor.dtype());
    if (tensor.is_contiguous() && !window->is_local(collectives::address_of(tensor), bytes)) {
      refuse(fmt::format("`{}` does not lie in this rank's part of window \"{}\"", which, window->name()));
    }
    return window->belongs_to(room_.domain()) ? window : nullptr;
  }

  void choose() {
    const bool in_place = has_x_ && has_y_ && x_.address() == y_.address();
    const bool in_windows = x_window_ != nullptr && y_window_ != nullptr;
    algorithm_ = options_.algorithm;
    if (algorithm_ == Algorithm::automatic) {
      const std::size_t bytes = count_ * size_of(element_);
      const bool one_phase = operation_ == Operation::allreduce &&
                             collectives::automatic_allreduce(bytes, room_.size()) == Algorithm::one_phase;
      // Between windows each byte is reduced once, in as many meetings.
      const bool mesh = !one_phase || (in_windows && (in_place || bytes > collectives::kOnePhaseBytes));
      algorithm_ = mesh ? Algorithm::mesh : Algorithm::one_phase;
    }
    const bool one_phase = algorithm_ == Algorithm::one_phase;
    if (!one_phase) needs_ = collectives::direct_needs(operation_);
    // What arrives would replace what others still need.
    const bool in_the_way = in_place && (one_phase || operation_ == Operation::all_to_all);
    is_direct_ = !is_message() && count_ > 0 && (one_phase || algorithm_ == Algorithm::mesh) && !in_the_way &&
                 (x_window_ != nullptr || !needs_.input) && (y_window_ != nullptr || !needs_.output);
    if (algorithm_ == Algorithm::bruck) room_blocks_ = 2 * room_.size();
    if (algorithm_ == Algorithm::ring && operation_ == Operation::allgather) room_blocks_ = room_.size();
  }

  [[nodiscard]] bool is_message() const { return operation_ == Operation::barrier; }

  TaskId submit_in_windows() {
    TaskId completes_y = 0;
    for (int slice = 0; slice < collectives::kWindowSlices; ++slice) {
      const TaskId task = submit_window_slice(slice);
      // Others write until the second meeting, after which comes the last slice.
      if (slice == (needs_.output ? 2 : 1)) completes_y = task;
    }
    return completes_y;
  }

  TaskId submit_window_slice(int slice) {
    // Others use a tensor between the meetings: it is in use from before the first until after the second.
    const bool reads = has_x_ && (needs_.input || slice == 1);
    const bool writes = has_y_ && (needs_.output || slice == 1);
    const auto argument = [&](bool used, Access access, const Tensor& tensor) {
      return used ? Argument(access, tensor) : untouched(tensor);
    };
    const auto context = [](bool needed, const RawWindow* window) {
      return reinterpret_cast<std::uint64_t>(needed ? window->context() : nullptr);
    };
    const Argument arguments[] = {argument(reads, Access::in, x_),
                                  argument(writes, Access::inout, y_),
                                  Argument(Access::inout, room_.tensor()),
                                  reinterpret_cast<std::uint64_t>(room_.context()),
                                  slice_of(slice, collectives::window_slices_cut(needs_.output)),
                                  count_,
                                  context(needs_.input, x_window_),
                                  context(needs_.output, y_window_),
                                  place_in_windows()};
    return graph_.submit_arguments(kWindowKernels[static_cast<std::size_t>(operation_)], arguments, task_options(slice),
                                   where_);
  }

  /// What all members must agree on; never 0.
  [[nodiscard]] std::uint64_t place_in_windows() const {
    std::uint64_t hash = 0;
    if (needs_.input) hash = collectives::mix(hash, collectives::place_hash(*x_window_, collectives::address_of(x_)));
    if (needs_.output) hash = collectives::mix(hash, collectives::place_hash(*y_window_, collectives::address_of(y_)));
    return (hash >> 32U) | 1U;
  }

  TaskId submit_piece(std::uint64_t first, std::uint64_t count) {
    const int slices =
        is_message() ? collectives::message_slices(root_, from_) : collectives::slices_of(operation_, algorithm_);
    if (slices == 0) return submit_slice(kWhole, 0, first, count);
    TaskId completes_y = 0;
    for (int slice = 0; slice < slices; ++slice) {
      const TaskId task = submit_slice(slice, slices, first, count);
      if (slice == completing_slice(slices)) completes_y = task;
    }
    return completes_y;
  }

  /// The slice that completes y.
  [[nodiscard]] int completing_slice(int slices) const {
    if (!is_message()) return slices - 2;
    return from_ >= 0 ? 1 : 0;
  }

  TaskId submit_slice(int slice, int slices, std::uint64_t first, std::uint64_t count) {
    const bool reads = has_x_ && slice <= 0;
    const bool writes = has_y_ && (slice == kWhole || slice == completing_slice(slices));
    const bool whole = first == 0 && count == count_;
    const Argument arguments[] = {reads ? Argument(Access::in, x_) : untouched(x_),
                                  writes ? Argument(whole ? Access::out : Access::inout, y_) : untouched(y_),
                                  Argument(Access::inout, room_.tensor()),
                                  reinterpret_cast<std::uint64_t>(room_.context()),
                                  slice_of(slice, slices),
                                  count_,
                                  first,
                                  count,
                                  static_cast<std::uint64_t>(room_.block_bytes()),
                                  static_cast<std::int64_t>(from_)};
    return graph_.submit_arguments(kKernels[static_cast<std::size_t>(operation_)], arguments, task_options(slice),
                                   where_);
  }

  [[nodiscard]] Slice slice_of(int slice, int slices) const {
    return {operation_,
            element_,
            op_,
            algorithm_,
            static_cast<std::int16_t>(root_),
            static_cast<std::int8_t>(slice),
            static_cast<std::int8_t>(slices)};
  }
  /// Whoever has no tensor passes anything, or nothing; the kernel does not touch it.
  [[nodiscard]] Argument untouched(const Tensor& tensor) const {
    return {Access::no_dependency, tensor.dims() == 0 ? room_.tensor() : tensor};
  }
  [[nodiscard]] TaskOptions task_options(int slice) const {
    return {.blocks = static_cast<std::uint32_t>(room_.blocks()),
            .priority = options_.priority,
            .after = slice <= 0 ? options_.after : std::vector<TaskId>()};
  }

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
  collectives::DirectNeeds needs_{.input = true, .output = false};
  bool is_direct_ = false;
  std::uint64_t count_ = 0;
};

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
}

std::size_t signal_bytes(int ranks, int blocks) {
  return static_cast<std::size_t>(collectives::signals_needed(ranks) * blocks) * sizeof(std::int32_t);
}

}  // namespace

CollectiveRoom::CollectiveRoom(const Domain& me, const CollectiveRoomOptions& options)
    : domain_(me),
      blocks_(std::max(1, options.blocks)),
      block_bytes_(options.bytes / static_cast<std::size_t>(blocks_) / 64 * 64) {
  const std::size_t bytes = signal_bytes(size(), blocks_) + block_bytes_ * static_cast<std::size_t>(blocks_);
  // Members that make it for different numbers of blocks learn of it by the name.
  const std::string name = blocks_ == 1 ? "collective room" : fmt::format("collective room of {} blocks", blocks_);
  window_ = domain_.raw_window(name, bytes);
  tensor_ = Tensor::over(std::span<std::byte>(window_.local(), bytes));
}

TaskId allreduce(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y, ReduceOp op,
                 const GraphCollectiveOptions& options, Place where) {
  Submission submission(graph, room, Operation::allreduce, x, y, options, where);
  submission.reduces(op);
  return submission.submit();
}

TaskId reduce(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y, int root, ReduceOp op,
              const GraphCollectiveOptions& options, Place where) {
  Submission submission(graph, room, Operation::reduce, x, y, options, where);
  submission.reduces(op);
  submission.rooted(root);
  if (room.rank() != root) submission.without_y();
  return submission.submit();
}

TaskId broadcast(Graph& graph, const CollectiveRoom& room, const GraphData& x, int root,
                 const GraphCollectiveOptions& options, Place where) {
  Submission submission(graph, room, Operation::broadcast, x, x, options, where);
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
  Submission submission(graph, room, Operation::reduce_scatter, x, y, options, where);
  submission.reduces(op);
  submission.blocks(room.size(), 1);
  return submission.submit();
}

TaskId allgather(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y,
                 const GraphCollectiveOptions& options, Place where) {
  Submission submission(graph, room, Operation::allgather, x, y, options, where);
  submission.blocks(1, room.size());
  return submission.submit();
}

TaskId gather(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y, int root,
              const GraphCollectiveOptions& options, Place where) {
  Submission submission(graph, room, Operation::gather, x, y, options, where);
  submission.rooted(root);
  submission.blocks(1, room.size());
  if (room.rank() != root) submission.without_y();
  return submission.submit();
}

TaskId scatter(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y, int root,
               const GraphCollectiveOptions& options, Place where) {
  Submission submission(graph, room, Operation::scatter, x, y, options, where);
  submission.rooted(root);
  submission.blocks(room.size(), 1);
  if (room.rank() != root) submission.without_x();
  return submission.submit();
}

TaskId all_to_all(Graph& graph, const CollectiveRoom& room, const GraphData& x, const GraphData& y,
                  const GraphCollectiveOptions& options, Place where) {
  Submission submission(graph, room, Operation::all_to_all, x, y, options, where);
  submission.blocks(room.size(), room.size());
  return submission.submit();
}

TaskId barrier(Graph& graph, const CollectiveRoom& room, const GraphCollectiveOptions& options, Place where) {
  TaskId last = 0;
  for (int slice = 0; slice < collectives::kBarrierSlices - 1; ++slice) {
    Slice what{};
    what.slice = static_cast<std::int8_t>(slice);
    what.slices = collectives::kBarrierSlices;
    const Argument arguments[] = {Argument(Access::inout, room.tensor()),
                                  reinterpret_cast<std::uint64_t>(room.context()), what, room.blocks()};
    last = graph.submit_arguments(
        kBarrier, arguments,
        {.priority = options.priority, .after = slice == 0 ? options.after : std::vector<TaskId>()}, where);
  }
  return last;
}

TaskId all_to_all_v(Graph& graph, const CollectiveRoom& room, const Tensor& x, const Tensor& send_counts,
                    const Tensor& y, const Tensor& receive_counts, const GraphCollectiveOptions& options, Place where) {
  check_all_to_all_v(room, x, send_counts, y, receive_counts, where);
  TaskId completes_y = 0;
  for (int slice = 0; slice < collectives::kAllToAllVSlices; ++slice) {
    Slice what{};
    what.operation = Operation::all_to_all_v;
    what.element = element_of(x.dtype());
    what.slice = static_cast<std::int8_t>(slice);
    what.slices = collectives::kAllToAllVSlices;
    const bool works = slice < collectives::kAllToAllVSlices - 1;
    const bool writes = works && slice > 0;
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
    const TaskId task = graph.submit_arguments(
        kAllToAllV, arguments,
        {.priority = options.priority, .after = slice == 0 ? options.after : std::vector<TaskId>()}, where);
    if (writes) completes_y = task;
  }
  return completes_y;
}

TaskId send(Graph& graph, const CollectiveRoom& room, const Tensor& x, int to, const GraphCollectiveOptions& options,
            Place where) {
  Submission submission(graph, room, Operation::barrier, x, x, options, where);
  submission.message(to, -1);
  return submission.submit();
}

TaskId recv(Graph& graph, const CollectiveRoom& room, const Tensor& y, int from, const GraphCollectiveOptions& options,
            Place where) {
  Submission submission(graph, room, Operation::barrier, y, y, options, where);
  submission.message(-1, from);
  return submission.submit();
}

TaskId send_recv(Graph& graph, const CollectiveRoom& room, const Tensor& x, int to, const Tensor& y, int from,
                 const GraphCollectiveOptions& options, Place where) {
  Submission submission(graph, room, Operation::barrier, x, y, options, where);
  submission.message(to, from);
  return submission.submit();
}

}  // namespace baton
