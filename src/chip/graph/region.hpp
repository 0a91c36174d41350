// What the map of tensors knows about one view.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "chip/graph/task_id.hpp"
#include "chip/graph/view.hpp"

namespace baton::graph {

/// An overlap with another region; that one has the reverse of it.
struct Link {
  std::uint32_t region;
  /// Where the reverse is in the other's list.
  std::uint32_t back : 31;
  /// Whether the other lies entirely inside this one.
  std::uint32_t covered : 1;
};

inline constexpr int kCoordinates = 3;

/// A box that contains a view, in the coordinates of its allocation's stride system. Both ends are inside.
struct Box {
  std::array<std::uint64_t, kCoordinates> low{};
  std::array<std::uint64_t, kCoordinates> high{};

  [[nodiscard]] bool meets(const Box& other) const noexcept {
    for (std::size_t i = 0; i < kCoordinates; ++i) {
      if (low[i] > other.high[i] || other.low[i] > high[i]) return false;
    }
    return true;
  }
};

/// History and key share a cache line: recording an access to a known contiguous view touches no other.
/// A region stays where it is until it is released.
struct alignas(64) Region {
  static constexpr std::uint32_t kInlineReaders = 2;

  TaskId last_writer = 0;
  TaskId* readers = nullptr;  // since the last write
  Link* links = nullptr;
  std::uint32_t reader_count = 0;
  std::uint32_t reader_capacity = kInlineReaders;
  std::uint32_t link_count = 0;
  /// How often it was met, after all of its tasks were complete, without being used.
  std::uint16_t idle = 0;
  std::uint16_t link_room_log2 = 0;  // only meaningful if there are links
  View view;

  std::array<TaskId, kInlineReaders> inline_readers{};
  Box box;
  std::uint32_t hash = 0;
  std::uint32_t allocation = 0;
  std::uint32_t level = 0;
  std::uint32_t level_before = 0;
  std::uint32_t level_after = 0;
  std::uint32_t cell_before = 0;
  std::uint32_t cell_after = 0;
  std::uint32_t cell_hash = 0;

  [[nodiscard]] TaskId newest() const noexcept { return reader_count > 0 ? readers[reader_count - 1] : last_writer; }
  void forget_history() noexcept {
    last_writer = 0;
    reader_count = 0;
  }
};

static_assert(offsetof(Region, view) + offsetof(View, dim) == 64, "history and key of a run share one cache line");
static_assert(sizeof(Region) == 256);

}  // namespace baton::graph
