#include "job/connect.hpp"

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/quote.hpp"
#include "comm/backends/inproc/inproc_job.hpp"
#include "comm/backends/shm/shm_backend.hpp"
#include "comm/backends/ucx/ucx_backend.hpp"
#include "job/agent_rendezvous.hpp"
#include "job/gathering.hpp"
#include "job/uncaught.hpp"

namespace baton::job {
namespace {

struct Rendezvous {
  std::string backend;
  std::string name;
  bool has_backend = false;  // in its text
};

Rendezvous parse(std::string_view text, const Options& options) {
  const std::size_t colon = text.find(':');
  Rendezvous rendezvous{options.backend, std::string(text)};
  if (colon != std::string_view::npos)
    rendezvous = {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1)), true};
  if (rendezvous.name.empty()) fail(Situation::bad_name, "the rendezvous {} has no name", quote(text));
  return rendezvous;
}

/// What the launcher assigned, if `rendezvous` means its job: ranks of several hosts find each other through what
/// started them. That is so with the backend ucx, and by the name that the launcher itself gave a job over hosts.
std::optional<Assignment> assignment_meant(const Rendezvous& rendezvous, int rank, int size) {
  const bool asked_for = rendezvous.backend == "ucx";
  if (!asked_for && rendezvous.has_backend) return std::nullopt;
  auto assignment = find_assignment();
  const bool is_its_name =
      assignment && assignment->several_hosts && assignment->rendezvous == assignment->launcher + "/" + rendezvous.name;
  if (!asked_for && !is_its_name) return std::nullopt;
  if (!assignment) {
    throw Error(Code::unsupported, "ranks of several hosts find each other through what started them, and nothing did",
                {fmt::format("rank {} of {} wants to join \"{}\" with the backend ucx", rank, size, rendezvous.name)},
                "baton run --hosts");
  }
  if (assignment->rank == rank && assignment->size == size) return assignment;
  fail(Code::invalid_argument, "rank {} of {} of \"{}\" is rank {} of {} for {}, which started it", rank, size,
       rendezvous.name, assignment->rank, assignment->size, assignment->launcher);
}

}  // namespace

std::shared_ptr<comm::World> connect(std::string_view rendezvous, int rank, int size, const Options& options) {
  if (size < 1 || static_cast<std::uint32_t>(size) > wire::kMaxRanks) {
    fail(Situation::ranks_impossible, "a job of {} ranks is not possible; 1 to {} are", size, wire::kMaxRanks);
  }
  if (rank < 0 || rank >= size) fail(Situation::no_such_rank, "rank {} is outside 0..{}", rank, size - 1);
  const Rendezvous where = parse(rendezvous, options);
  if (const auto assignment = assignment_meant(where, rank, size)) return connect(assignment, options);
  const auto& [backend_name, name, has_backend] = where;
  const auto r = static_cast<std::uint32_t>(rank);
  const auto n = static_cast<std::uint32_t>(size);
  std::unique_ptr<comm::Backend> backend;
  if (backend_name == "shm") {
    backend = shm::rendezvous(name, r, n, options.join_timeout, options.launcher);
  } else if (backend_name == "inproc") {
    backend = inproc::rendezvous(name, r, n, options.join_timeout);
  } else {
    throw Error(Code::unknown_backend, fmt::format("there is no backend {}", quote(backend_name)),
                {"there are shm, inproc and ucx"});
  }
  const bool alone_in_process = backend_name == "shm";
  log::info("rank {} of {} joined \"{}\" through {}", rank, size, name, backend_name);
  auto world = std::make_shared<comm::World>(std::move(backend), r, name, options.wait_timeout);
  // Ranks that share a process end together: none is left to be told.
  if (alone_in_process) tell_what_ends(world);
  return world;
}

std::shared_ptr<comm::World> connect(std::unique_ptr<comm::Rendezvous> rendezvous, const Options& options) {
  const std::uint32_t rank = rendezvous->rank();
  const std::uint32_t size = rendezvous->size();
  const std::string name = rendezvous->job();
  log::info("rank {} of {} joins \"{}\" on {} hosts", rank, size, name, rendezvous->host_count());
  auto world =
      std::make_shared<comm::World>(ucx::join(std::move(rendezvous), options), rank, name, options.wait_timeout);
  tell_what_ends(world);
  return world;
}

std::shared_ptr<comm::World> connect(const std::optional<Assignment>& assignment, const Options& options) {
  // Alone, no other process can know the name, so nobody need be met.
  if (!assignment) return connect("inproc:alone", 0, 1, options);
  if (!assignment->several_hosts)
    return connect("shm:" + assignment->rendezvous, assignment->rank, assignment->size, options);
  if (assignment->agent.empty()) return connect(join_gathering(*assignment, options), options);
  return connect(join_through_agent(assignment->agent, static_cast<std::uint32_t>(assignment->rank),
                                    Deadline::after(options.join_timeout)),
                 options);
}

}  // namespace baton::job
