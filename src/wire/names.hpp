// Reading and writing names in shared memory.
#pragma once

#include <string>
#include <string_view>

#include "wire/control.hpp"

namespace baton::wire {

/// Stores `name`, cut to what fits, so that others can read it while it changes.
void store_name(SharedName& to, std::string_view name) noexcept;

/// The name, with everything that is no printable ASCII replaced: the bytes may come from anybody.
[[nodiscard]] std::string load_name(const SharedName& from);

}  // namespace baton::wire
