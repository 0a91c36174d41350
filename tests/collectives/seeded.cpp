#include "seeded.hpp"

#include <baton/options.hpp>

#include "base/fiber.hpp"
#include "comm/backends/inproc/inproc_job.hpp"
#include "comm/domain_state.hpp"
#include "comm/world.hpp"

namespace baton::test {

std::string run_seeded(int ranks, std::uint64_t seed, const std::function<void(Domain)>& body) {
  const auto count = static_cast<std::uint32_t>(ranks);
  auto job = std::make_shared<inproc::Job>(count, "world", comm::Hosting::fibers);
  FiberPool pool(
      {.threads = 1, .seed = seed, .place = {&job->control().doorbell, FutexScope::process, Crowding::spare}});
  std::string failure;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    job->enter(rank);
    pool.add([&, rank] {
      auto world = std::make_shared<comm::World>(inproc::connect(job, rank), rank, job->name(), options().wait_timeout);
      try {
        body(Domain(comm::DomainState::of_world(world)));
        world->leave(comm::Farewell::leave);
      } catch (const std::exception& error) {
        if (failure.empty()) failure = error.what();
        world->leave(comm::Farewell::fail);
      }
    });
  }
  pool.run();
  return failure;
}

}  // namespace baton::test
