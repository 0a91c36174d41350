// From the name of a rendezvous to a rank's membership: where backends are chosen.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include <baton/options.hpp>

#include "comm/rendezvous.hpp"
#include "comm/world.hpp"
#include "job/launcher_environment.hpp"

namespace baton::job {

/// Joins the job `rendezvous` ("job7", "shm:job7", "inproc:job7") as `rank` of `size`. Blocks until all have joined.
[[nodiscard]] std::shared_ptr<comm::World> connect(std::string_view rendezvous, int rank, int size,
                                                   const Options& options);

/// The same for ranks that are on several hosts, or may be.
[[nodiscard]] std::shared_ptr<comm::World> connect(std::unique_ptr<comm::Rendezvous> rendezvous,
                                                   const Options& options);

/// What a launcher has assigned to this process, on one host or on several; a job of its own if nothing.
[[nodiscard]] std::shared_ptr<comm::World> connect(const std::optional<Assignment>& assignment, const Options& options);

}  // namespace baton::job
