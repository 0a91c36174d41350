// What the cores of one block of a cluster task share: the slots of the pipes between the cube core and its vector
// cores.
//
// A ring carries slots one way. Every vector core of the task takes part in every slot: one that comes from the vectors
// is ready when all of them have pushed it, one that goes to them is free again when all of them have popped it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace baton::chip {

/// Which core of a cluster, and how many there are.
inline constexpr std::size_t kCubePart = 0;
inline constexpr std::size_t kClusterParts = 3;

/// One slot of one ring, from the side of one core.
struct PipeSlot {
  enum class Way : std::uint8_t { to_vectors, to_cube };

  std::uint32_t pipe;  // the number that both sides give it
  Way way;
  std::uint32_t slots;
  std::uint32_t slot_bytes;
  std::uint64_t index;  // counted from 0 on, around the ring
  const char* element;  // what its rows are made of; null if nobody compares
  std::uint32_t row_elements;
};

/// Any thread. Functions that judge return what is wrong, or nothing.
class ClusterPipes {
 public:
  /// The kernels of the cores, null for a core that runs none.
  explicit ClusterPipes(const std::array<const char*, kClusterParts>& kernels) : kernels_(kernels) {}

  /// For `baton check`: what makes tokens of these pipes unlike those of others.
  std::uint64_t token = 0;

  /// The kernel of `part` begins, on a core with these buffers: what its peers write to is its own from now on.
  void begin(std::size_t part, const void* buffers);
  /// The buffers of a part that has begun, null of one that has not.
  [[nodiscard]] const void* buffers_of(std::size_t part);
  [[nodiscard]] bool takes_part(std::size_t part) const { return kernels_[part] != nullptr; }

  struct Answer {
    bool may_go_on;
    std::optional<std::string> wrong;
  };
  /// Whether `part` may write (if it is a producer) or read the slot now.
  [[nodiscard]] Answer ask(std::size_t part, const PipeSlot& slot);
  /// What a part waits for, for the report of one that has waited too long.
  [[nodiscard]] std::string awaited_by(std::size_t part, const PipeSlot& slot);
  /// `part` has written or read it.
  void done(std::size_t part, const PipeSlot& slot);

  enum class End : std::uint8_t { returned, failed };
  /// The kernel of `part` has ended. The last one is told of slots that were pushed and never popped.
  [[nodiscard]] std::optional<std::string> leave(std::size_t part, End end);

 private:
  struct Content {
    const char* element = nullptr;
    std::uint32_t row_elements = 0;
  };
  struct Ring {
    std::uint32_t slots = 0;
    std::uint32_t slot_bytes = 0;
    std::array<std::uint64_t, kClusterParts> counts{};  // by part: pushed, or popped
    std::vector<Content> contents;                      // by slot
  };
  using Name = std::pair<std::uint32_t, PipeSlot::Way>;

  /// The first part on the other side that has not come far enough, if any.
  [[nodiscard]] std::optional<std::size_t> missing(std::size_t part, const PipeSlot& slot, const Ring& ring) const;
  [[nodiscard]] std::optional<std::string> disagreement(const PipeSlot& slot, Ring& ring) const;
  [[nodiscard]] std::string describe(std::size_t part) const;

  std::mutex mutex_;
  std::array<const char*, kClusterParts> kernels_;
  std::array<const void*, kClusterParts> buffers_{};
  std::array<std::optional<End>, kClusterParts> ends_;
  std::map<Name, Ring> rings_;
};

}  // namespace baton::chip
