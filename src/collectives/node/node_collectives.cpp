#include <baton/node_collectives.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include <baton/error.hpp>
#include <collectives/member.hpp>
#include <collectives/operations.hpp>

#include "collectives/call.hpp"
#include "collectives/graph/collective_kernel.hpp"
#include "collectives/graph/device_kernels.hpp"
#include "collectives/graph/elements.hpp"

namespace baton {
namespace {

using collectives::address_of;
using collectives::bytes_of;
using collectives::element_of;
using collectives::Operation;

constexpr Kernel kCollective = {"collective", baton_collective_kernel, nullptr, BATON_CORE_VECTOR, 0};

/// One collective of the chips of a node.
struct NodeCall {
  Operation operation;
  std::span<const Tensor> xs;
  std::span<const Tensor> ys;  // the same as xs: in place
  std::span<const int> workers;
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  Place where;
  std::int64_t x_blocks = 1;
  std::int64_t y_blocks = 1;

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(Code::invalid_argument, fmt::format("{}: {}", name_of(operation), why),
                {fmt::format("submitted at {}:{}", where.file, where.line)});
  }

  /// Elements of a block. Throws unless all tensors fit.
  [[nodiscard]] std::int64_t check() const {
    if (workers.empty() || xs.size() != workers.size() || ys.size() != workers.size()) {
      refuse(fmt::format("{} and {} tensors for {} chips", xs.size(), ys.size(), workers.size()));
    }
    const std::int64_t block = xs[0].element_count() / x_blocks;
    const auto fits = [&](const Tensor& tensor, const char* which, std::int64_t blocks) {
      if (tensor.is_contiguous() && tensor.dtype() == xs[0].dtype() && tensor.element_count() == block * blocks) return;
      refuse(fmt::format("`{}` must be contiguous, {} elements of {}; one is {}", which, block * blocks,
                         name_of(xs[0].dtype()), tensor.describe()));
    };
    for (const Tensor& x : xs) fits(x, "xs", x_blocks);
    for (const Tensor& y : ys) fits(y, "ys", y_blocks);
    const bool reduces = operation == Operation::allreduce || operation == Operation::reduce_scatter;
    if (!is_known(op)) refuse(fmt::format("there is no operation {} on elements", static_cast<int>(op)));
    if (reduces && !collectives::can_combine(element_of(xs[0].dtype()), op)) {
      refuse(fmt::format("chips have no {} of {}", collectives::name_of(op), name_of(xs[0].dtype())));
    }
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (!collectives::lie_apart(operation, static_cast<int>(i), address_of(xs[i]), bytes_of(xs[i]), address_of(ys[i]),
                                  bytes_of(ys[i]))) {
        refuse(
            fmt::format("xs[{0}] and ys[{0}] overlap by a part: {1} and {2}", i, xs[i].describe(), ys[i].describe()));
      }
    }
    if (root < 0 || root >= static_cast<int>(workers.size())) {
      refuse(fmt::format("rank {} is outside 0..{}", root, workers.size() - 1));
    }
    return block;
  }
};

/// Of this program, or one that is compiled for the chips.
Callable kernel_for(const std::string& platform, const NodeCall& call, Algorithm algorithm, Element element) {
  if (collectives::has_host_kernels(platform)) return kCollective;
  const LoadedKernel& kernel =
      collectives::device_kernel(platform, {.operation = call.operation, .algorithm = algorithm, .element = element});
  return Callable::in_library(kernel.library(), kernel.get());
}

TaskId submit(Orchestration& orch, const NodeCall& call) {
  const std::int64_t block = call.check();
  const auto ranks = static_cast<int>(call.workers.size());
  const Element element = element_of(call.xs[0].dtype());
  const std::size_t signals = static_cast<std::size_t>(collectives::signals_needed(ranks)) * sizeof(std::int32_t);
  const std::size_t room = static_cast<std::size_t>(block * call.x_blocks) * size_of(element);
  const CommBufferSpec specs[] = {{"room", DType::uint8, signals + room}};
  const bool is_sum = call.operation == Operation::allreduce;
  const Algorithm algorithm = is_sum ? collectives::automatic_allreduce(room, ranks) : Algorithm::automatic;
  const Callable kernel = kernel_for(orch.platform(), call, algorithm, element);
  const DomainHandle domain = orch.allocate_domain(name_of(call.operation), call.workers, 0, specs, call.where);
  const collectives::Slice whole{call.operation,      element, call.op, algorithm, static_cast<std::int16_t>(call.root),
                                 collectives::kWhole, 0};
  std::vector<TaskArgs> args(call.workers.size());
  const bool in_place = call.xs.data() == call.ys.data();
  for (std::size_t i = 0; i < args.size(); ++i) {
    const DomainMember& member = domain[call.workers[i]];
    args[i]
        .add_tensor(call.xs[i], in_place ? TensorArgType::inout : TensorArgType::input)
        .add_tensor(call.ys[i], in_place ? TensorArgType::no_dep : TensorArgType::output)
        .add_tensor(member.buffer("room").tensor, TensorArgType::inout)
        .add_scalar(member.device_ctx)
        .add_scalar(whole)
        .add_scalar(block)
        .add_scalar(std::int64_t{0})
        .add_scalar(block)
        .add_scalar(static_cast<std::uint64_t>(room));
  }
  return orch.submit_next_level_group(kernel, args, call.workers, {}, call.where);
}

}  // namespace

TaskId allreduce(Orchestration& orch, std::span<const Tensor> xs, std::span<const int> workers, ReduceOp op,
                 Place where) {
  return submit(orch,
                {.operation = Operation::allreduce, .xs = xs, .ys = xs, .workers = workers, .op = op, .where = where});
}

TaskId broadcast(Orchestration& orch, std::span<const Tensor> xs, std::span<const int> workers, int root, Place where) {
  return submit(
      orch, {.operation = Operation::broadcast, .xs = xs, .ys = xs, .workers = workers, .root = root, .where = where});
}

TaskId reduce_scatter(Orchestration& orch, std::span<const Tensor> xs, std::span<const Tensor> ys,
                      std::span<const int> workers, ReduceOp op, Place where) {
  return submit(orch, {.operation = Operation::reduce_scatter,
                       .xs = xs,
                       .ys = ys,
                       .workers = workers,
                       .op = op,
                       .where = where,
                       .x_blocks = static_cast<std::int64_t>(workers.size())});
}

TaskId allgather(Orchestration& orch, std::span<const Tensor> xs, std::span<const Tensor> ys,
                 std::span<const int> workers, Place where) {
  return submit(orch, {.operation = Operation::allgather,
                       .xs = xs,
                       .ys = ys,
                       .workers = workers,
                       .where = where,
                       .y_blocks = static_cast<std::int64_t>(workers.size())});
}

TaskId all_to_all(Orchestration& orch, std::span<const Tensor> xs, std::span<const Tensor> ys,
                  std::span<const int> workers, Place where) {
  const auto blocks = static_cast<std::int64_t>(workers.size());
  return submit(orch, {.operation = Operation::all_to_all,
                       .xs = xs,
                       .ys = ys,
                       .workers = workers,
                       .where = where,
                       .x_blocks = blocks,
                       .y_blocks = blocks});
}

void allreduce(Worker& node, std::span<const Tensor> xs, ReduceOp op, Place where) {
  std::vector<int> chips(xs.size());
  std::iota(chips.begin(), chips.end(), 0);
  node.run([&](Orchestration& orch) { static_cast<void>(allreduce(orch, xs, chips, op, where)); }, where);
}

}  // namespace baton
