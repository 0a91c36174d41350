// Bytes on their way, by themselves: who started them does other things meanwhile.
#pragma once

#include "base/deadline.hpp"

namespace baton {

/// For one thread or fiber at a time. However it ends, the memory that the bytes come from or go to is given back.
class Transfer {
 public:
  Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  virtual ~Transfer() = default;

  /// Whether end() has nothing to wait for. Once true it stays so. Never blocks. Sequentially consistent, so it may be
  /// tested before sleeping; every change rings the doorbell of the rank, but for the one at latest().
  [[nodiscard]] virtual bool is_over() noexcept = 0;
  /// When is_over() holds at the latest, as far as it is known now: it may become earlier.
  [[nodiscard]] virtual Deadline::Clock::time_point latest() const noexcept = 0;
  /// Once it is over: throws Error if the bytes did not arrive.
  virtual void end() = 0;
};

}  // namespace baton
