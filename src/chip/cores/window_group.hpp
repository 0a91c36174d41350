// The members of a window whose parts lie on their devices: what they tell each other when it is opened, when one of
// them fails, and when each of them has left it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <baton/error.hpp>

namespace baton::chip {

class WindowGroup {
 public:
  WindowGroup() = default;
  WindowGroup(const WindowGroup&) = delete;
  WindowGroup& operator=(const WindowGroup&) = delete;
  virtual ~WindowGroup() = default;

  [[nodiscard]] virtual std::uint32_t rank() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;
  /// By rank: which host, numbered from 0.
  [[nodiscard]] virtual const std::vector<int>& hosts() const = 0;

  /// Tells all members `mine`, and writes what each told, by rank, to `all`. Collective. With a `failure` of any member
  /// it throws at all of them.
  virtual void exchange(const Error* failure, std::span<const std::byte> mine, std::span<std::byte> all) = 0;

  /// This member has failed and gives the window up: kernels of others that wait for it wait in vain.
  virtual void tell_failure(const Error& why) noexcept = 0;
  /// Which other member has said so, and why; empty: none. One that failed by itself comes before those that failed
  /// because of it. Any thread.
  [[nodiscard]] virtual std::string failed_member() const = 0;

  /// This member does not reach the parts of others any more.
  virtual void leave() noexcept = 0;
  /// Whether nobody else reaches this member's part.
  [[nodiscard]] virtual bool all_left() const = 0;
  /// Waits for that; not for members that are gone, and not for longer than a wait may take.
  virtual void await_all_left() noexcept = 0;
};

}  // namespace baton::chip
