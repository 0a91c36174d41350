#include "one_of_each_kind.hpp"

#include <numeric>
#include <vector>

#include <baton/graph_collectives.hpp>

#include "support/require.hpp"

namespace baton::test {
namespace {

template <class T>
std::vector<T> contents_of(Chip& chip, const Tensor& tensor) {
  std::vector<T> values(static_cast<std::size_t>(tensor.element_count()));
  chip.copy_out<T>(tensor, values);
  return values;
}

}  // namespace

void one_of_each_kind(const Domain& me, const ChipOptions& options) {
  constexpr std::int64_t kCount = 1000;
  const int ranks = me.size();
  const auto size = static_cast<std::size_t>(ranks);
  Chip chip(me, options);
  const CollectiveRoom room(chip, me, {.bytes = std::size_t{4} << 10U, .blocks = 2, .compiled = true});
  REQUIRE(room.device_platform() == chip.platform());
  const int next = (me.rank() + 1) % ranks;
  const int before = (me.rank() + ranks - 1) % ranks;
  const Tensor x = chip.alloc<float>({kCount});
  const Tensor sum = chip.alloc<float>({kCount});
  const Tensor got = chip.alloc<float>({kCount});
  const Tensor parts = chip.alloc<std::int32_t>({ranks});
  const Tensor turned = chip.alloc<std::int32_t>({ranks});
  const Tensor ones = chip.alloc<std::int32_t>({ranks});
  std::vector<float> mine(kCount);
  std::iota(mine.begin(), mine.end(), 100.0F * static_cast<float>(me.rank()));
  std::vector<std::int32_t> to_all(size);
  std::iota(to_all.begin(), to_all.end(), 10 * me.rank());
  chip.copy_in<float>(x, mine);
  chip.copy_in<std::int32_t>(parts, to_all);
  chip.copy_in<std::int32_t>(ones, std::vector<std::int32_t>(size, 1));
  chip.run([&](Graph& graph) {
    allreduce(graph, room, x, sum, ReduceOp::sum, {.algorithm = Algorithm::one_phase});
    if (ranks > 1) send_recv(graph, room, x, next, got, before);
    const TaskId met = barrier(graph, room);
    all_to_all_v(graph, room, parts, ones, turned, ones, {.after = {met}});
  });
  const std::vector<float> sums = contents_of<float>(chip, sum);
  const std::vector<float> came = contents_of<float>(chip, got);
  const auto of_all = static_cast<float>(50 * ranks * (ranks - 1));
  for (std::size_t i = 0; i < mine.size(); ++i) {
    REQUIRE(sums[i] == of_all + static_cast<float>(ranks) * static_cast<float>(i));
    REQUIRE(ranks == 1 || came[i] == 100.0F * static_cast<float>(before) + static_cast<float>(i));
  }
  const std::vector<std::int32_t> from_all = contents_of<std::int32_t>(chip, turned);
  for (int from = 0; from < ranks; ++from) {
    REQUIRE(from_all[static_cast<std::size_t>(from)] == 10 * from + me.rank());
  }
}

}  // namespace baton::test
