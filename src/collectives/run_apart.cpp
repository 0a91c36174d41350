// Blocks that lie apart in the memory of a rank: large ones go straight from memory to memory, small ones by way of one
// buffer.
#include <algorithm>
#include <cstring>

#include "collectives/run.hpp"

namespace baton::collectives {
namespace {

/// The way of blocks that lie apart, if it is straight from memory to memory: wherever ranks reach it, and what a rank
/// has is more than travels at once. Every other way needs them in one buffer.
const AlgorithmInfo* straight_way(const HostMover& host, const Request& request) {
  const Call& call = request.call;
  const std::size_t bytes = contribution_bytes(call, host.size());
  if (!host.memory().is_open() || told_bytes(request, host.size()) > kSlotBytes) return nullptr;
  const Algorithm asked =
      request.algorithm == Algorithm::automatic ? forced_by_environment(call.operation) : request.algorithm;
  if (asked == Algorithm::automatic && bytes <= kSlotBytes) return nullptr;
  for (const AlgorithmInfo& info : all_algorithms()) {
    if (info.operation == call.operation && info.needs == Needs::memory &&
        (asked == Algorithm::automatic || asked == info.algorithm)) {
      return &info;
    }
  }
  return nullptr;
}

/// Blocks that lie apart, by way of one buffer.
void run_gathered_up(const Domain& me, HostMover& host, Mover& mover, const Request& request) {
  const std::size_t block = request.call.count * size_of(request.call.element);
  const std::size_t count = request.call.count * static_cast<std::size_t>(host.size());
  std::byte* room = request.blocks.empty() ? nullptr : host.memory().bounce(block * request.blocks.size());
  Request whole = request;
  whole.form = Form::one_block;
  if (request.call.operation == Operation::scatter) {
    for (std::size_t i = 0; i < request.blocks.size() && block != 0; ++i)
      std::memcpy(room + i * block, request.blocks[i], block);
    if (room != nullptr) whole.in = ConstData(room, count, request.call.element);
  } else if (room != nullptr) {
    whole.out = Data(room, count, request.call.element);
  }
  run(me, host, mover, whole);
  if (request.call.operation == Operation::scatter) return;
  for (std::size_t i = 0; i < request.blocks.size() && block != 0; ++i)
    std::memcpy(request.blocks[i], room + i * block, block);
}

}  // namespace

std::size_t told_bytes(const Request& request, int ranks) {
  if (request.form == Form::one_block || !has_root(request.call.operation)) return kAddressesBytes;
  return std::max(kInlineBytes + 1, static_cast<std::size_t>(ranks) * sizeof(void*));
}

void run_apart(const Domain& me, HostMover& host, Mover& mover, const Request& request) {
  const AlgorithmInfo* way = straight_way(host, request);
  if (way == nullptr) return run_gathered_up(me, host, mover, request);
  const Plan plan{.shape = {}, .algorithm = way, .bytes = contribution_bytes(request.call, host.size())};
  run_planned(me, host, mover, request, plan);
}

}  // namespace baton::collectives
