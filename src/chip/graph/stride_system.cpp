#include "chip/graph/stride_system.hpp"

#include <algorithm>

namespace baton::graph {

Box StrideSystem::box_of(const View& view) const noexcept {
  Box box;
  std::uint64_t offset = view.start - anchor_;
  std::array<bool, kMaxDims> taken{};
  for (std::size_t c = 0; c < kCoordinates; ++c) {
    const std::uint64_t pitch = c + 1 < kCoordinates ? pitch_[c] : 0;
    std::uint64_t steps = 0;  // along this coordinate
    std::uint64_t rest = view.run - 1;
    for (std::uint32_t i = 0; i < view.dims; ++i) {
      if (taken[i]) continue;
      const ViewDim& dim = view.dim[i];
      if (pitch != 0 && dim.stride % pitch == 0) {
        taken[i] = true;
        steps += (dim.extent - 1) * (dim.stride / pitch);
      } else {
        rest += (dim.extent - 1) * dim.stride;
      }
    }
    if (pitch == 0) {
      box.low[c] = offset;
      box.high[c] = offset + rest;
      return box;
    }
    box.low[c] = offset / pitch;
    offset %= pitch;
    box.high[c] = box.low[c] + steps + (offset + rest) / pitch;
    if (offset + rest >= pitch) {
      // It runs over the end of a row: all columns.
      for (std::size_t later = c + 1; later < kCoordinates; ++later) {
        const std::uint64_t radix = later < pitch_.size() && pitch_[later] != 0 ? pitch_[later - 1] / pitch_[later]
                                    : pitch_[later - 1] != 0                    ? pitch_[later - 1]
                                                                                : 1;
        box.low[later] = 0;
        box.high[later] = radix - 1;
      }
      return box;
    }
  }
  return box;
}

void StrideSurvey::add(const View& view) noexcept {
  ++views_;
  for (std::uint32_t i = 0; i < view.dims; ++i) {
    for (Candidate& candidate : candidates_) {
      if (candidate.views == 0) candidate = {view.dim[i].stride, 0, view.start};
      if (candidate.stride != view.dim[i].stride) continue;
      ++candidate.views;
      candidate.lowest_start = std::min(candidate.lowest_start, view.start);
      break;
    }
  }
}

const StrideSurvey::Candidate* StrideSurvey::best_with(const Candidate* other) const noexcept {
  // A pitch that few views have would tear the others apart for nothing.
  constexpr std::uint64_t kFewestShare = 8;
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates_) {
    if (candidate.views < 2 || candidate.views * kFewestShare < views_ || &candidate == other) continue;
    if (other != nullptr && candidate.stride % other->stride != 0 && other->stride % candidate.stride != 0) continue;
    if (best == nullptr || candidate.views > best->views ||
        (candidate.views == best->views && candidate.stride > best->stride)) {
      best = &candidate;
    }
  }
  return best;
}

StrideSystem StrideSurvey::choose(std::uint64_t begin) const noexcept {
  const Candidate* first = best_with(nullptr);
  if (first == nullptr) return {begin, 0, 0};
  const Candidate* second = best_with(first);
  if (second != nullptr && second->stride > first->stride) std::swap(first, second);
  // A view begins where a row does. Counting back from it keeps all coordinates positive.
  const std::uint64_t rows_before = (first->lowest_start - begin + first->stride - 1) / first->stride;
  return {first->lowest_start - rows_before * first->stride, first->stride, second == nullptr ? 0 : second->stride};
}

}  // namespace baton::graph
