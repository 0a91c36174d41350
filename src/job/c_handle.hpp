// What comm_init() hands out, from a membership that came about in another way.
#pragma once

#include <memory>

#include <baton/comm.h>

#include "comm/world.hpp"

namespace baton::job {

/// For comm_destroy() to end.
[[nodiscard]] CommHandle make_handle(std::shared_ptr<comm::World> world);

}  // namespace baton::job
