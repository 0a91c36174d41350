// A buffer's way to a chip of this host: through a socket, with its descriptor.
#pragma once

#include "base/unique_fd.hpp"
#include "node/chips.hpp"

namespace baton::node {

/// give_buffer() to this socket gives up when the chip does not read for the wait timeout.
void limit_giving(const UniqueFd& socket) noexcept;
/// A chip that is gone is not an error: its watcher tells that, with the cause. Throws Error (system).
void give_buffer(const UniqueFd& socket, const SharedBuffer& buffer);

}  // namespace baton::node
