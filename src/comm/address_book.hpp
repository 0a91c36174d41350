// From an address to the window it lies in: what a kernel has when it changes a signal is only a pointer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace baton::comm {

class WindowState;
class World;

/// Where an address lies. The window stays alive while the caller's domain handles do.
struct WindowPlace {
  const WindowState* window;
  int rank;
  std::size_t offset;
};

/// The place of [address, address + bytes) if one part of one live window of `viewer` holds it. Ranks that live in one
/// process map the same memory; each has a window object of its own for it.
[[nodiscard]] std::optional<WindowPlace> find_window(const World& viewer, const void* address, std::size_t bytes);

/// For messages: what lies closest to `address`, such as `64 bytes behind rank 2's part of "scratch"`; empty if there
/// is not a window at all.
[[nodiscard]] std::string describe_nearest_window(const void* address);

/// Called by windows as they come and go.
void enter_window(const WindowState* window, const std::byte* first_part, std::uint64_t stride, std::uint32_t parts);
void remove_window(const WindowState* window, const std::byte* first_part) noexcept;

}  // namespace baton::comm
