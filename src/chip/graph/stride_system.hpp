// Coordinates for the views of one allocation, so that tiles of a matrix become boxes.
#pragma once

#include <array>
#include <cstdint>

#include "chip/graph/region.hpp"

namespace baton::graph {

/// An address, less the anchor, is split by up to two pitches, of which the second divides the first: a matrix with
/// rows of p bytes has the pitch p, and the coordinates are row and column. Without pitches there is one coordinate.
class StrideSystem {
 public:
  StrideSystem() = default;
  StrideSystem(std::uint64_t anchor, std::uint64_t first_pitch, std::uint64_t second_pitch)
      : anchor_(anchor), pitch_{first_pitch, second_pitch} {}

  /// A box that contains `view`. It is tight for views whose strides are multiples of the pitches and that do not run
  /// over the end of a row; others get whole rows.
  [[nodiscard]] Box box_of(const View& view) const noexcept;

  /// The coordinate along which bytes are contiguous.
  [[nodiscard]] std::size_t finest() const noexcept { return pitch_[0] == 0 ? 0 : pitch_[1] == 0 ? 1 : 2; }

  friend bool operator==(const StrideSystem&, const StrideSystem&) = default;

 private:
  std::uint64_t anchor_ = 0;
  std::array<std::uint64_t, kCoordinates - 1> pitch_{};  // 0: unused, and so are those after it
};

/// Chooses the pitches that most of the views it is shown have in common.
class StrideSurvey {
 public:
  void add(const View& view) noexcept;
  /// `begin` is the first address that occurs.
  [[nodiscard]] StrideSystem choose(std::uint64_t begin) const noexcept;

 private:
  struct Candidate {
    std::uint64_t stride = 0;
    std::uint64_t views = 0;
    std::uint64_t lowest_start = 0;
  };
  [[nodiscard]] const Candidate* best_with(const Candidate* other) const noexcept;

  std::array<Candidate, 16> candidates_{};
  std::uint64_t views_ = 0;
};

}  // namespace baton::graph
