// Elementwise instructions: dst(r, c) from the sources at (r, c). A destination may be a source.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/events.hpp>
#include <pto/instructions/numbers.hpp>
#include <pto/instructions/operands.hpp>
#include <pto/target/vector_loop.hpp>

namespace baton::kernel {

/// dst[i] = operation(sources[i]...).
template <typename Operation, typename Dst, typename... Src>
PTO_INLINE AICORE void apply_to_run(Operation operation, size_t count, Dst* dst, const Src*... sources) {
  vector_store(dst, count, [=](size_t i) PTO_INLINE_LAMBDA { return operation(sources[i]...); });
}

/// Over the valid region. Tiles without gaps between their rows are one run.
template <typename Operation, typename Dst, typename... Src>
AICORE void apply_to_tile(Operation operation, const Dst& dst, const Src&... sources) {
  const int rows = dst.GetValidRow();
  const int cols = dst.GetValidCol();
  const bool one_run = cols == Dst::Cols && ((Src::Cols == Dst::Cols) && ...);
  const int runs = one_run ? 1 : rows;
  const auto count = static_cast<size_t>(one_run ? rows * cols : cols);
  for (int run = 0; run < runs; ++run) {
    apply_to_run(operation, count, dst.data() + run * Dst::Cols, sources.data() + run * Src::Cols...);
  }
}

/// Checks, tells the core, applies.
template <typename Operation, typename Dst, typename Src>
AICORE void elementwise(const BatonPlace& place, Operation operation, Dst& dst, Src& src) {
  static_assert(is_plain_vec<Dst> && is_plain_vec<Src>, "elementwise instructions take row-major Vec tiles");
  static_assert(std::is_same_v<typename Dst::DType, typename Src::DType>, "element types differ");
  check_tile(place, "dst", dst);
  check_tile(place, "src", src);
  check_same_valid(place, "dst", dst, "src", src);
  issue(place, pipe_bit(PIPE_V), reads(src), writes(dst));
  apply_to_tile(operation, dst, src);
}

template <typename Operation, typename Dst, typename First, typename Second>
AICORE void elementwise(const BatonPlace& place, Operation operation, Dst& dst, First& first, Second& second) {
  static_assert(is_plain_vec<Dst> && is_plain_vec<First> && is_plain_vec<Second>,
                "elementwise instructions take row-major Vec tiles");
  static_assert(std::is_same_v<typename Dst::DType, typename First::DType> &&
                    std::is_same_v<typename Dst::DType, typename Second::DType>,
                "element types differ");
  check_tile(place, "dst", dst);
  check_tile(place, "src0", first);
  check_tile(place, "src1", second);
  check_same_valid(place, "dst", dst, "src0", first);
  check_same_valid(place, "dst", dst, "src1", second);
  issue(place, pipe_bit(PIPE_V), reads(first), reads(second), writes(dst));
  apply_to_tile(operation, dst, first, second);
}

/// An operation whose second operand is the same for all elements.
template <typename Operation, typename Element>
struct WithScalar {
  Element scalar;
  PTO_INLINE AICORE Element operator()(Element value) const { return Operation{}(value, scalar); }
};

}  // namespace baton::kernel
