// A window as a chip has it: where its kernels find the parts, and how its host reaches the part of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <baton/comm_context.h>
#include <baton/domain.hpp>

namespace baton::chip {

class ChipWindowState {
 public:
  ChipWindowState(std::string name, std::size_t bytes) : name_(std::move(name)), bytes_(bytes) {}
  ChipWindowState(const ChipWindowState&) = delete;
  ChipWindowState& operator=(const ChipWindowState&) = delete;
  virtual ~ChipWindowState() = default;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  /// Addresses for kernels.
  [[nodiscard]] virtual const CommContext* context() const = 0;
  [[nodiscard]] virtual std::byte* part(int rank) const = 0;
  [[nodiscard]] virtual std::byte* local() const = 0;

  /// Of the part of its own, on any thread. Complete when they return.
  virtual void copy_in(std::size_t offset, const void* from, std::size_t count) = 0;
  virtual void copy_out(void* to, std::size_t offset, std::size_t count) = 0;
  /// The signal at this byte; an acquire.
  [[nodiscard]] virtual std::int32_t signal(std::size_t offset) = 0;
  /// Whether a change of a signal rings the doorbell of this rank. Otherwise only looking tells.
  [[nodiscard]] virtual bool rings() const noexcept = 0;

 protected:
  /// Throws Error unless these bytes lie in a part, and a signal at a multiple of 4.
  void check_range(const char* what, std::size_t offset, std::size_t count) const;
  void check_signal(std::size_t offset) const;
  void check_rank(int rank, int size) const;

 private:
  std::string name_;
  std::size_t bytes_;
};

/// In memory of the host. Collective over `domain`.
[[nodiscard]] std::shared_ptr<ChipWindowState> open_host_window(Domain domain, std::string_view name,
                                                                std::size_t bytes);

}  // namespace baton::chip
