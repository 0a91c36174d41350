// Numbers of chips: those of this process, and those of the driver, which differ where a variable hides some chips.
#pragma once

#include <cstdint>

namespace baton::ascend {

/// Of chip `id` of this process.
[[nodiscard]] std::int32_t number_of_driver(std::int32_t id);
/// Of the chip that the driver calls so. Throws Error (unsupported) if this process does not see it.
[[nodiscard]] std::int32_t number_here(std::int32_t number);

}  // namespace baton::ascend
