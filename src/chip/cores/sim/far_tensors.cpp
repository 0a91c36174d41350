#include "chip/cores/sim/far_tensors.hpp"

#include <algorithm>
#include <cstring>

#include "chip/cores/sim/byte_runs.hpp"

namespace baton::chip {
namespace {

/// Bytes between runs that are fetched along, because another message would take longer.
constexpr std::size_t kGapWorthFetching = std::size_t{16} * 1024;

/// All that a range touches, and all between.
struct Bounds {
  std::uintptr_t begin = UINTPTR_MAX;
  std::uintptr_t end = 0;
  std::size_t bytes = 0;
  std::size_t runs = 0;

  [[nodiscard]] std::size_t span() const noexcept { return end - begin; }
};

Bounds bounds_of(const BatonGlobalRange& range) {
  Bounds bounds;
  for_each_run(range, [&](ByteRange run) {
    bounds.begin = std::min(bounds.begin, run.begin);
    bounds.end = std::max(bounds.end, run.end);
    bounds.bytes += run.end - run.begin;
    ++bounds.runs;
    return true;
  });
  return bounds;
}

}  // namespace

std::byte* FarTensors::Room::place(std::uintptr_t there, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  if (bytes + 2 * kLine > size_) {
    size_ = bytes + 2 * kLine;
    bytes_.reset();
    // Not filled: of a range with wide gaps only what is touched is memory.
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(size_);
  }
  const auto first = reinterpret_cast<std::uintptr_t>(bytes_.get());
  return bytes_.get() + (kLine + there % kLine - first % kLine) % kLine;
}

void* FarTensors::begin(const BatonGlobalRange& range) {
  const Bounds bounds = bounds_of(range);
  const bool reads = (range.access & BATON_READS) != 0;
  std::byte* const near = (reads ? read_ : written_).place(bounds.begin, bounds.span());
  const auto fetch = [&](std::uintptr_t begin, std::uintptr_t end) {
    memory_.copy(near + (begin - bounds.begin), reinterpret_cast<const void*>(begin), end - begin);
    return true;
  };
  if (reads && bounds.span() - bounds.bytes <= bounds.runs * kGapWorthFetching) {
    fetch(bounds.begin, bounds.end);
  } else if (reads) {
    for_each_run(range, [&](ByteRange run) { return fetch(run.begin, run.end); });
  } else if ((range.access & BATON_ATOMIC) != 0) {
    // What is added to nothing is what is to be added there.
    for_each_run(range, [&](ByteRange run) {
      std::memset(near + (run.begin - bounds.begin), 0, run.end - run.begin);
      return true;
    });
  }
  return near + (reinterpret_cast<std::uintptr_t>(range.address) - bounds.begin);
}

void FarTensors::end(const BatonGlobalRange& range, const void* near) {
  const auto first = reinterpret_cast<std::uintptr_t>(range.address);
  const auto element = static_cast<Element>(range.access >> BATON_ELEMENT_SHIFT);
  for_each_run(range, [&](ByteRange run) {
    // Where a dimension goes backwards, a run begins before the first element.
    const auto* from = static_cast<const std::byte*>(near) + static_cast<std::ptrdiff_t>(run.begin - first);
    auto* const there = reinterpret_cast<void*>(run.begin);
    if ((range.access & BATON_ATOMIC) != 0) {
      memory_.add_far(there, element, from, run.end - run.begin);
    } else {
      memory_.copy(there, from, run.end - run.begin);
    }
    return true;
  });
}

}  // namespace baton::chip
