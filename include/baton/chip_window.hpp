// A window where the kernels of a chip find it: in memory of the host, or of the chip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <baton/export.hpp>

struct CommContext;

namespace baton {

namespace chip {
class ChipWindowState;
}

/// A handle: copies refer to the same window, which ends with the last of them. Chip::window() makes it. Offsets count
/// bytes from the start of this rank's part. Any thread.
class BATON_API ChipWindow {
 public:
  ChipWindow() = default;
  explicit ChipWindow(std::shared_ptr<chip::ChipWindowState> state) noexcept;

  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const std::string& name() const;

  /// What kernels receive, where they read it.
  [[nodiscard]] const CommContext* context() const;
  /// The part of `rank`, and this rank's own, where kernels find them. The host reaches them by these addresses only if
  /// Chip::memory_place() is the host.
  [[nodiscard]] std::byte* part(int rank) const;
  [[nodiscard]] std::byte* local() const;

  /// Copies to and from this rank's part; complete when they return.
  void copy_in(std::size_t offset, const void* from, std::size_t count_bytes) const;
  void copy_out(void* to, std::size_t offset, std::size_t count_bytes) const;
  /// The value of the signal at `offset` in this rank's part; an acquire.
  [[nodiscard]] std::int32_t signal(std::size_t offset) const;
  /// Whether kernels that change a signal ring the doorbell of this rank: if not, only looking tells.
  [[nodiscard]] bool rings() const;

 private:
  [[nodiscard]] chip::ChipWindowState& state() const;
  std::shared_ptr<chip::ChipWindowState> state_;
};

}  // namespace baton
