// What a Worker is made of, once what its options leave open is settled.
#pragma once

#include <baton/worker.hpp>

namespace baton::node {

/// `options` with the chips that hosts and the environment add. Throws Error (invalid_argument) if they make no worker.
[[nodiscard]] WorkerOptions settled(WorkerOptions options);

}  // namespace baton::node
