// How ranks that know only PyTorch's store find each other.
#pragma once

#include <string>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace baton::process_group {

/// Returns a rendezvous that exactly the ranks of this group know, when all of them are about to come there: Baton then
/// meets within milliseconds, and how long ranks wait for late ones is PyTorch's timeout. Throws, with the ranks that
/// are missing, when that has passed, and when ranks run on different hosts.
[[nodiscard]] std::string meet(c10d::Store& store, int rank, int size, std::chrono::milliseconds timeout);

}  // namespace baton::process_group
