#include <baton/join.hpp>

#include <mutex>

#include "comm/domain_state.hpp"
#include "job/connect.hpp"
#include "job/launcher_environment.hpp"

namespace baton {
namespace {

std::mutex joined_mutex;

/// The job of this process, for as long as somebody holds it.
std::weak_ptr<comm::DomainState>& joined() {
  static std::weak_ptr<comm::DomainState> domain;
  return domain;
}

}  // namespace

Domain join(std::string_view rendezvous, int rank, int size) {
  return Domain(comm::DomainState::of_world(job::connect(rendezvous, rank, size, options())));
}

Domain join() {
  const std::lock_guard lock(joined_mutex);
  if (auto domain = joined().lock()) return Domain(std::move(domain));
  const auto assignment = job::find_assignment();
  // Alone, no other process can know the name, so nobody need be met.
  std::shared_ptr<comm::World> world =
      assignment ? job::connect("shm:" + assignment->rendezvous, assignment->rank, assignment->size, options())
                 : job::connect("inproc:alone", 0, 1, options());
  auto domain = comm::DomainState::of_world(std::move(world));
  joined() = domain;
  return Domain(std::move(domain));
}

}  // namespace baton
