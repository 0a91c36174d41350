// The members of a domain, as devices need them that open a window together.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <baton/domain.hpp>

#include "chip/cores/window_group.hpp"

namespace baton::chip {

/// Collective over `domain`. What goes wrong is told with `name`, that of the window.
[[nodiscard]] std::unique_ptr<WindowGroup> group_of(Domain domain, std::string_view name);

/// What kernels receive, as words to be copied to `address`.
[[nodiscard]] std::vector<std::uint64_t> context_at(std::uint64_t address, std::uint32_t rank, std::size_t bytes,
                                                    std::span<const std::uint64_t> windows);

}  // namespace baton::chip
