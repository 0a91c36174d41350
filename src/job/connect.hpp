// From the name of a rendezvous to a rank's membership: where backends are chosen.
#pragma once

#include <memory>
#include <string_view>

#include <baton/options.hpp>

#include "comm/rendezvous.hpp"
#include "comm/world.hpp"

namespace baton::job {

/// Joins the job `rendezvous` ("job7", "shm:job7", "inproc:job7") as `rank` of `size`. Blocks until all have joined.
[[nodiscard]] std::shared_ptr<comm::World> connect(std::string_view rendezvous, int rank, int size,
                                                   const Options& options);

/// The same for ranks that are on several hosts, or may be.
[[nodiscard]] std::shared_ptr<comm::World> connect(std::unique_ptr<comm::Rendezvous> rendezvous,
                                                   const Options& options);

}  // namespace baton::job
