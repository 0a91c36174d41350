#include "collectives/graph/collective_submission.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <baton/error.hpp>
#include <collectives/member.hpp>
#include <collectives/operations.hpp>

#include "collectives/call.hpp"
#include "collectives/graph/device_kernels.hpp"
#include "collectives/graph/elements.hpp"

namespace baton::collectives {
namespace {

/// By operation, so that traces name them.
constexpr Kernel kernel_named(const char* name, BatonKernelFunction function = baton_collective_kernel) {
  return {name, function, nullptr, BATON_CORE_VECTOR, 0};
}
constexpr std::array<Kernel, kOperations> kKernels = {kernel_named("message", baton_message_kernel),
                                                      kernel_named("broadcast"),
                                                      kernel_named("reduce"),
                                                      kernel_named("allreduce"),
                                                      kernel_named("reduce_scatter"),
                                                      kernel_named("allgather"),
                                                      kernel_named("gather"),
                                                      kernel_named("scatter"),
                                                      kernel_named("all_to_all"),
                                                      kernel_named("all_to_all_v")};
constexpr std::array<Kernel, kOperations> in_windows(std::array<Kernel, kOperations> kernels) {
  for (Kernel& kernel : kernels) kernel = kernel_named(kernel.name, baton_window_collective_kernel);
  return kernels;
}
constexpr std::array<Kernel, kOperations> kWindowKernels = in_windows(kKernels);

}  // namespace

CollectiveSubmission::CollectiveSubmission(Graph& graph, const CollectiveRoom& room, Operation operation,
                                           const GraphData& x, const GraphData& y,
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

void CollectiveSubmission::reduces(ReduceOp op) {
  op_ = op;
  if (!is_known(op)) refuse(fmt::format("there is no operation {} on elements", static_cast<int>(op)));
  if (!can_combine(element_of(x_.dtype()), op)) {
    refuse(fmt::format("chips have no {} of {}", name_of(op), name_of(x_.dtype())));
  }
}

void CollectiveSubmission::rooted(int root) {
  root_ = root;
  if (root < 0 || root >= room_.size()) {
    throw Error(Code::out_of_range, fmt::format("{}: rank {} is outside 0..{}", name(), root, room_.size() - 1),
                {place()});
  }
}

void CollectiveSubmission::blocks(int in_x, int in_y) {
  x_blocks_ = in_x;
  y_blocks_ = in_y;
}

void CollectiveSubmission::message(int to, int from) {
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

TaskId CollectiveSubmission::submit() {
  const Tensor& one = has_x_ ? x_ : y_;
  const int one_blocks = has_x_ ? x_blocks_ : y_blocks_;
  element_ = element_of(one.dtype());
  const std::int64_t all = one.element_count();
  if (all % one_blocks != 0) refuse(fmt::format("{} elements do not divide into {} blocks", all, one_blocks));
  count_ = static_cast<std::uint64_t>(all / one_blocks);
  check(x_, "x", has_x_, x_blocks_);
  check(y_, "y", has_y_, y_blocks_);
  check_apart();
  choose();
  return is_direct_ ? submit_in_windows() : submit_through_room();
}

TaskId CollectiveSubmission::submit_through_room() {
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

std::string_view CollectiveSubmission::name() const { return is_message() ? "message" : name_of(operation_); }

void CollectiveSubmission::refuse(const std::string& why) const {
  throw Error(Code::invalid_argument, fmt::format("{}: {}", name(), why), {place()});
}

std::string CollectiveSubmission::place() const { return fmt::format("submitted at {}:{}", where_.file, where_.line); }

void CollectiveSubmission::check(const Tensor& tensor, const char* which, bool present, int blocks) const {
  if (!present) return;
  if (!tensor.is_contiguous()) refuse(fmt::format("`{}` is not contiguous: {}", which, tensor.describe()));
  const std::uint64_t needed = count_ * static_cast<std::uint64_t>(blocks);
  if (element_of(tensor.dtype()) != element_ || static_cast<std::uint64_t>(tensor.element_count()) != needed) {
    refuse(fmt::format("`{}` has {} {}, but {} {} are needed", which, tensor.element_count(), name_of(tensor.dtype()),
                       needed, name_of(element_)));
  }
}

void CollectiveSubmission::check_apart() const {
  if (!has_x_ || !has_y_) return;
  if (lie_apart(operation_, room_.rank(), address_of(x_), bytes_of(x_), address_of(y_), bytes_of(y_))) return;
  refuse(fmt::format("x and y overlap by a part: {} and {}", x_.describe(), y_.describe()));
}

const RawWindow* CollectiveSubmission::window_of(const GraphData& data, const char* which) const {
  const RawWindow* window = data.window();
  if (window == nullptr) return nullptr;
  const Tensor& tensor = data.tensor();
  if (tensor.is_contiguous() && !window->is_local(address_of(tensor), bytes_of(tensor))) {
    refuse(fmt::format("`{}` does not lie in this rank's part of window \"{}\"", which, window->name()));
  }
  return window->belongs_to(room_.domain()) ? window : nullptr;
}

void CollectiveSubmission::choose() {
  const bool in_place = has_x_ && has_y_ && x_.address() == y_.address();
  const bool in_windows = x_window_ != nullptr && y_window_ != nullptr;
  algorithm_ = options_.algorithm;
  if (algorithm_ == Algorithm::automatic) {
    const std::size_t bytes = count_ * size_of(element_);
    const bool one_phase =
        operation_ == Operation::allreduce && automatic_allreduce(bytes, room_.size()) == Algorithm::one_phase;
    // Between windows each byte is reduced once, in as many meetings.
    const bool mesh = !one_phase || (in_windows && (in_place || bytes > kOnePhaseBytes));
    algorithm_ = mesh ? Algorithm::mesh : Algorithm::one_phase;
  }
  const bool one_phase = algorithm_ == Algorithm::one_phase;
  if (!one_phase) needs_ = direct_needs(operation_);
  // What arrives would replace what others still need.
  const bool in_the_way = in_place && (one_phase || operation_ == Operation::all_to_all);
  is_direct_ = !is_on_device() && !is_message() && count_ > 0 && (one_phase || algorithm_ == Algorithm::mesh) &&
               !in_the_way && (x_window_ != nullptr || !needs_.input) && (y_window_ != nullptr || !needs_.output);
  if (algorithm_ == Algorithm::bruck) room_blocks_ = 2 * room_.size();
  if (algorithm_ == Algorithm::ring && operation_ == Operation::allgather) room_blocks_ = room_.size();
}

TaskId CollectiveSubmission::submit_in_windows() {
  TaskId completes_y = 0;
  for (int slice = 0; slice < kWindowSlices; ++slice) {
    const TaskId task = submit_window_slice(slice);
    // Others write until the second meeting, after which comes the last slice.
    if (slice == (needs_.output ? 2 : 1)) completes_y = task;
  }
  return completes_y;
}

TaskId CollectiveSubmission::submit_window_slice(int slice) {
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
                                slice_of(slice, window_slices_cut(needs_.output)),
                                count_,
                                context(needs_.input, x_window_),
                                context(needs_.output, y_window_),
                                place_in_windows()};
  return graph_.submit_arguments(kWindowKernels[static_cast<std::size_t>(operation_)], arguments, task_options(slice),
                                 where_);
}

std::uint64_t CollectiveSubmission::place_in_windows() const {
  std::uint64_t hash = 0;
  if (needs_.input) hash = hash_with(hash, place_hash(*x_window_, address_of(x_)));
  if (needs_.output) hash = hash_with(hash, place_hash(*y_window_, address_of(y_)));
  return (hash >> 32U) | 1U;
}

TaskId CollectiveSubmission::submit_piece(std::uint64_t first, std::uint64_t count) {
  // Where tasks that wait keep their core, to cut them is of no use.
  if (is_on_device()) return submit_slice(kWhole, 0, first, count);
  const int slices = is_message() ? message_slices(root_, from_) : slices_of(operation_, algorithm_);
  if (slices == 0) return submit_slice(kWhole, 0, first, count);
  TaskId completes_y = 0;
  for (int slice = 0; slice < slices; ++slice) {
    const TaskId task = submit_slice(slice, slices, first, count);
    if (slice == completing_slice(slices)) completes_y = task;
  }
  return completes_y;
}

int CollectiveSubmission::completing_slice(int slices) const {
  if (!is_message()) return slices - 2;
  return from_ >= 0 ? 1 : 0;
}

TaskId CollectiveSubmission::submit_slice(int slice, int slices, std::uint64_t first, std::uint64_t count) {
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
  return graph_.submit_arguments(kernel(), arguments, task_options(slice), where_);
}

const Kernel& CollectiveSubmission::kernel() const {
  if (!is_on_device()) return kKernels[static_cast<std::size_t>(operation_)];
  const DeviceTask task{.kind = is_message() ? DeviceTask::Kind::message : DeviceTask::Kind::collective,
                        .operation = operation_,
                        .algorithm = algorithm_,
                        .element = element_};
  return device_kernel(room_.device_platform(), task).get();
}

Slice CollectiveSubmission::slice_of(int slice, int slices) const {
  return {operation_,
          element_,
          op_,
          algorithm_,
          static_cast<std::int16_t>(root_),
          static_cast<std::int8_t>(slice),
          static_cast<std::int8_t>(slices)};
}

Argument CollectiveSubmission::untouched(const Tensor& tensor) const {
  return {Access::no_dependency, tensor.dims() == 0 ? room_.tensor() : tensor};
}

TaskOptions CollectiveSubmission::task_options(int slice) const {
  return {.blocks = static_cast<std::uint32_t>(room_.blocks()),
          .priority = options_.priority,
          .after = slice <= 0 ? options_.after : std::vector<TaskId>()};
}

}  // namespace baton::collectives
