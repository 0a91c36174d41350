// From errno to a code.
#pragma once

#include <baton/error.hpp>

namespace baton {

/// Of a refused system call: out_of_memory, no_space, or system.
[[nodiscard]] Code code_of(int error_number) noexcept;

}  // namespace baton
