#include "matrix.hpp"

#include "collectives/scratch.hpp"
#include "support/scale.hpp"

namespace baton::test {

using collectives::Operation;

bool whole_matrix() { return scaled(1000) > 1000; }
bool large_borders() {
#if defined(BATON_SANITIZE_THREAD)
  return whole_matrix();
#else
  return true;
#endif
}

namespace {

constexpr Element kElements[] = {Element::float64, Element::float32, Element::float16, Element::bfloat16,
                                 Element::int8,    Element::int16,   Element::int32,   Element::int64,
                                 Element::uint8,   Element::uint16,  Element::uint32,  Element::uint64};
constexpr ReduceOp kOps[] = {ReduceOp::sum, ReduceOp::prod,    ReduceOp::min,    ReduceOp::max,
                             ReduceOp::avg, ReduceOp::bit_and, ReduceOp::bit_or, ReduceOp::bit_xor};
constexpr Memory kMemories[] = {Memory::windows, Memory::own, Memory::input_in_window, Memory::output_in_window};

void add_places(std::vector<Case>& cases, Case one) {
  for (const Memory memory : kMemories) {
    one.memory = memory;
    one.placing = Placing::out_of_place;
    if (one.operation == Operation::broadcast &&
        (memory == Memory::input_in_window || memory == Memory::output_in_window))
      continue;
    cases.push_back(one);
    if (may_be_in_place(one.operation) && (memory == Memory::windows || memory == Memory::own)) {
      one.placing = Placing::in_place;
      cases.push_back(one);
    }
  }
}

/// Counts around the sizes at which something changes, in elements of a block of `operation`.
std::vector<std::size_t> counts_around(Operation operation, std::size_t element_bytes, int ranks) {
  const bool blocks = operation == Operation::reduce_scatter || operation == Operation::scatter ||
                      operation == Operation::all_to_all || operation == Operation::all_to_all_v;
  const std::size_t share = blocks ? static_cast<std::size_t>(ranks) : 1;
  std::vector<std::size_t> counts = {0, 1, 2, 3, static_cast<std::size_t>(ranks)};
  std::vector<std::size_t> borders = {collectives::kInlineBytes, 8192, collectives::kSlotBytes};
  if (large_borders()) {
    const collectives::StagingRing ring = collectives::ring_of(ranks);
    borders.push_back(ring.pieces * ring.piece_bytes);
    borders.push_back(collectives::Layout(ranks).staging_bytes);
  }
  for (const std::size_t border : borders) {
    const std::size_t count = border / element_bytes / share;
    if (count == 0) continue;
    for (const std::size_t near : corners<std::size_t>({count + 1}, {count - 1, count, count + 1, count + 1001}))
      counts.push_back(near);
  }
  return counts;
}

}  // namespace

std::vector<Case> cases_of_elements(Operation operation, int ranks) {
  const bool reducing =
      operation == Operation::reduce || operation == Operation::allreduce || operation == Operation::reduce_scatter;
  std::vector<Case> cases;
  for (const Element element : kElements) {
    for (const ReduceOp op : kOps) {
      if (!reducing && op != ReduceOp::sum) continue;
      if (is_bitwise(op) && !is_integer(element)) continue;
      for (const std::size_t count : corners<std::size_t>({5, 2500}, {5, 2500, 40'000})) {
        Case one{.operation = operation, .element = element, .op = op, .count = count, .root = ranks - 1};
        one.memory = count % 2 == 1 ? Memory::own : Memory::windows;
        cases.push_back(one);
      }
    }
  }
  return cases;
}

std::vector<Case> cases_around_borders(Operation operation, Algorithm algorithm, int ranks) {
  std::vector<Case> cases;
  for (const std::size_t count : counts_around(operation, sizeof(double), ranks)) {
    Case one{.operation = operation, .element = Element::float64, .count = count, .algorithm = algorithm};
    one.root = collectives::has_root(operation) ? static_cast<int>(count % static_cast<std::size_t>(ranks)) : 0;
    add_places(cases, one);
  }
  return cases;
}

}  // namespace baton::test
