// The memory of the other members, outside of windows: of a process by a call of the system, of a rank in this process
// as it is.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <baton/window.hpp>

namespace baton::collectives {

/// What a rank shows of itself. Everything is zero at first.
struct alignas(64) ProcessLine {
  std::uint64_t state;  // kShown, then kReaches or kDoesNotReach
  std::uint64_t pid;
  std::uint64_t sample_at;  // an address of that process, and what lies there
  std::uint64_t sample;
  std::uint64_t replies_at;  // room for a word of each rank

  static constexpr std::uint64_t kShown = 1;
  static constexpr std::uint64_t kDoesNotReach = 2;
  static constexpr std::uint64_t kReaches = 3;
};

class PeerMemory {
 public:
  /// Who copies between ranks of one process. The system survives addresses that are none.
  enum class Within : std::uint8_t { processor, system };

  /// Collective: the members find out whether each may read and write what each of the others has. `window` has a
  /// ProcessLine of each rank at `offset`.
  PeerMemory(const RawWindow& window, std::size_t offset, int rank, int size, Within within = Within::processor);

  /// Whether all members reach the memory of all; the same on all of them.
  [[nodiscard]] bool is_open() const noexcept { return is_open_; }

  /// Both return 0 or the error of the system.
  [[nodiscard]] int read(int peer, const std::byte* from, std::byte* to, std::size_t bytes) const noexcept;
  [[nodiscard]] int write(int peer, const std::byte* from, std::byte* to, std::size_t bytes) const noexcept;
  /// Whether its addresses are those of this process.
  [[nodiscard]] bool is_same_process(int peer) const noexcept {
    return pids_[static_cast<std::size_t>(peer)] == own_pid_;
  }
  /// Whether that process has ended, so that it does nothing any more.
  [[nodiscard]] bool is_gone(int peer) const noexcept;

 private:
  /// Whether that process has the memory that this rank has.
  [[nodiscard]] bool shares(std::uint32_t pid) const noexcept {
    return pid == own_pid_ && within_ == Within::processor;
  }

  std::uint32_t own_pid_;
  Within within_;
  std::vector<std::uint32_t> pids_;
  bool is_open_ = false;
};

}  // namespace baton::collectives
