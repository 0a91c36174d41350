// Ranks as processes of several hosts: shared memory inside each, UCX between them.
#pragma once

#include <baton/options.hpp>

#include <memory>

#include "comm/backend.hpp"
#include "comm/rendezvous.hpp"

namespace baton::ucx {

/// Joins the job that meets at `rendezvous`. Blocks until all ranks have joined. Of `options` it takes
/// join_timeout, hello_timeout and launcher.
[[nodiscard]] std::unique_ptr<comm::Backend> join(std::unique_ptr<comm::Rendezvous> rendezvous, const Options& options);

}  // namespace baton::ucx
