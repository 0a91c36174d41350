// Which processors a process may run on, in a form that can be sent to another.
#pragma once

#include <array>
#include <cstdint>

namespace baton {

/// One bit per processor; those beyond the last bit are not told apart from forbidden ones.
struct ProcessorMask {
  std::array<std::uint64_t, 16> words{};

  ProcessorMask& operator|=(const ProcessorMask& other) noexcept;
  [[nodiscard]] int count() const noexcept;
  /// What the part number `part` of `parts` gets: neighbouring processors, as many as all others, and nobody else's; or
  /// one, in turns, where there are fewer processors than parts.
  [[nodiscard]] ProcessorMask share(int part, int parts) const;
};

/// Of the calling thread.
[[nodiscard]] ProcessorMask allowed_processors();
/// From now on the calling thread, and those that it starts, run on these. A system call and nothing else; false if it
/// is refused, as where none of them is permitted any more.
bool stay_on(const ProcessorMask& processors) noexcept;

/// How many of a job's processes can run at once if together they may use `mask`: Options::processors, or what the
/// control group lets them keep busy. At least 1.
[[nodiscard]] int usable_processors(const ProcessorMask& mask);

}  // namespace baton
