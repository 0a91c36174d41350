// Copies of a chip to and from other hosts, as its engines carry them out: requests of the path, and the message that
// they have been sent.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "base/transfer.hpp"
#include "comm/address_book.hpp"

namespace baton::chip {

/// The ends of a copy: where they are on other hosts, there; else here.
struct FarEnds {
  std::optional<comm::WindowPlace> target;
  std::optional<comm::WindowPlace> source;
  void* to;
  const void* from;
  std::size_t bytes;
};

class FarCopy final : public Transfer {
 public:
  /// One of the ends is far. `sent` is called when all that goes to the target has been taken from its source.
  FarCopy(const FarEnds& ends, std::function<void()> sent);

  [[nodiscard]] bool is_over() noexcept override;
  [[nodiscard]] Deadline::Clock::time_point latest() const noexcept override { return leg_->latest(); }
  void end() override;

 private:
  void start_sending(const void* from);

  FarEnds ends_;
  std::function<void()> sent_;
  std::unique_ptr<std::byte[]> between_;  // of a copy between two other hosts
  std::unique_ptr<Transfer> leg_;         // ends before the memory that it touches
  bool is_last_leg_;
};

}  // namespace baton::chip
