#include "chip_cases.hpp"

namespace baton::test {
namespace {

using collectives::Operation;

constexpr std::pair<Operation, Algorithm> kMade[] = {
    {Operation::barrier, Algorithm::automatic},
    {Operation::broadcast, Algorithm::fetch},
    {Operation::broadcast, Algorithm::mesh},
    {Operation::broadcast, Algorithm::tree},
    {Operation::reduce, Algorithm::mesh},
    {Operation::reduce, Algorithm::tree},
    {Operation::allreduce, Algorithm::automatic},
    {Operation::allreduce, Algorithm::one_phase},
    {Operation::allreduce, Algorithm::mesh},
    {Operation::allreduce, Algorithm::ring},
    {Operation::allreduce, Algorithm::bidirectional_ring},
    {Operation::allreduce, Algorithm::interleaved_ring},
    {Operation::allreduce, Algorithm::recursive_halving},
    {Operation::allreduce, Algorithm::tree},
    {Operation::reduce_scatter, Algorithm::mesh},
    {Operation::reduce_scatter, Algorithm::ring},
    {Operation::allgather, Algorithm::mesh},
    {Operation::allgather, Algorithm::ring},
    {Operation::gather, Algorithm::automatic},
    {Operation::scatter, Algorithm::automatic},
    {Operation::all_to_all, Algorithm::mesh},
    {Operation::all_to_all, Algorithm::bruck},
    {Operation::all_to_all_v, Algorithm::automatic},
};
constexpr Element kCombined[] = {Element::float32, Element::float16, Element::bfloat16, Element::int16, Element::int32};
constexpr Element kMoved[] = {Element::uint8, Element::int64, Element::float32, Element::bfloat16};

std::int32_t uneven_element(int from, int to, int round, std::int32_t index) {
  return from * 10'000'000 + to * 1'000'000 + round * 10'000 + index;
}

}  // namespace

std::span<const std::pair<Operation, Algorithm>> chip_algorithms() { return kMade; }

Case draw_chip_case(std::mt19937_64& random, int ranks, std::size_t most) {
  const auto& [operation, algorithm] = kMade[random() % std::size(kMade)];
  Case one{.operation = operation, .memory = Memory::windows, .algorithm = algorithm};
  one.element = reduces(operation) ? kCombined[random() % std::size(kCombined)] : kMoved[random() % std::size(kMoved)];
  one.op = static_cast<ReduceOp>(random() % 5);
  if (one.op == ReduceOp::avg && one.element >= Element::int8) one.op = ReduceOp::max;
  const std::size_t scales[] = {3, 40, 600, most};
  one.count = random() % scales[random() % 4];
  one.root = static_cast<int>(random() % static_cast<std::uint64_t>(ranks));
  if (operation == Operation::allreduce && random() % 2 == 0) one.placing = Placing::in_place;
  return one;
}

std::int32_t uneven_count(int from, int to, int round) {
  const int drawn = (from * 7 + to * 13 + round * 31 + from * to * 5) % 11;
  if (drawn < 3) return 0;
  return drawn < 9 ? drawn * 3 : 150 + drawn * from;
}

std::vector<std::int32_t> uneven_input(int rank, int ranks, int round) {
  std::vector<std::int32_t> data;
  for (int to = 0; to < ranks; ++to) {
    for (std::int32_t i = 0; i < uneven_count(rank, to, round); ++i) data.push_back(uneven_element(rank, to, round, i));
  }
  return data;
}

std::vector<std::int32_t> uneven_output(int rank, int ranks, int round) {
  std::vector<std::int32_t> data;
  for (int from = 0; from < ranks; ++from) {
    for (std::int32_t i = 0; i < uneven_count(from, rank, round); ++i)
      data.push_back(uneven_element(from, rank, round, i));
  }
  return data;
}

std::vector<std::int32_t> uneven_counts(int rank, int ranks, int round) {
  std::vector<std::int32_t> counts;
  for (int peer = 0; peer < ranks; ++peer) counts.push_back(uneven_count(rank, peer, round));
  for (int peer = 0; peer < ranks; ++peer) counts.push_back(uneven_count(peer, rank, round));
  return counts;
}

}  // namespace baton::test
