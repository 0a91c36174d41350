// Ranks as processes of several hosts: shared memory inside each, UCX between them.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "comm/backend.hpp"
#include "comm/rendezvous.hpp"

namespace baton::ucx {

/// Joins the job that meets at `rendezvous`. Blocks until all ranks have joined. `launcher` is as for shm.
[[nodiscard]] std::unique_ptr<comm::Backend> join(std::unique_ptr<comm::Rendezvous> rendezvous,
                                                  std::chrono::nanoseconds timeout,
                                                  const std::optional<std::string>& launcher);

}  // namespace baton::ucx
