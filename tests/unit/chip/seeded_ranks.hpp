// Ranks of one process, all on one thread, in an order that follows from a seed.
#pragma once

#include <cstdint>
#include <functional>

#include <baton/domain.hpp>

#include "base/fiber.hpp"
#include "comm/backends/inproc/inproc_job.hpp"
#include "comm/domain_state.hpp"

namespace baton::chip {

/// Runs `body` once for each rank. It must not throw.
inline void run_seeded_ranks(int size, std::uint64_t seed, const std::function<void(Domain)>& body) {
  auto job = std::make_shared<inproc::Job>(static_cast<std::uint32_t>(size), "world", comm::Hosting::fibers);
  FiberPool pool(
      {.threads = 1, .seed = seed, .place = {&job->control().doorbell, FutexScope::process, Crowding::spare}});
  for (std::uint32_t rank = 0; rank < static_cast<std::uint32_t>(size); ++rank) {
    job->enter(rank);
    pool.add([&job, &body, rank] {
      auto world =
          std::make_shared<comm::World>(inproc::connect(job, rank), rank, job->name(), std::chrono::seconds(20));
      body(Domain(comm::DomainState::of_world(world)));
      world->leave(comm::Farewell::leave);
    });
  }
  pool.run();
}

}  // namespace baton::chip
