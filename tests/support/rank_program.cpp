#include "support/rank_program.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>

#include <baton/inproc.hpp>
#include <baton/join.hpp>

#include <fmt/format.h>

#include "comm/domain_state.hpp"
#include "comm/wait_record.hpp"
#include "job/connect.hpp"
#include "support/hosts_lab.hpp"
#include "support/hub.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

void run_body(const Scenario& scenario, const Newcomer& place) {
  if (scenario.body_before_join != nullptr) {
    scenario.body_before_join(place);
  } else {
    scenario.body(join_and_tell(place));
  }
}

/// Threads of this process, one per rank. The first failure counts: the others usually follow from it.
void run_threads(const Scenario& scenario, int size, const std::string& job) {
  std::mutex mutex;
  std::exception_ptr first;
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < size; ++rank) {
      ranks.emplace_back([&, rank] {
        try {
          run_body(scenario, {rank, size, "inproc:" + job});
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!first) first = std::current_exception();
        }
      });
    }
  }
  if (first) std::rethrow_exception(first);
}

void run(const Scenario& scenario, Hosting hosting, int size, int rank, const std::string& job) {
  switch (hosting) {
    case Hosting::threads: return run_threads(scenario, size, job);
    case Hosting::one_fiber_thread: return run_ranks(size, scenario.body, {.threads = 1});
    case Hosting::two_fiber_threads: return run_ranks(size, scenario.body, {.threads = 2});
    case Hosting::processes:
    case Hosting::hosts: return run_body(scenario, {rank, size, "shm:" + job});
  }
}

}  // namespace

int run_as_rank(int argument_count, char** arguments) {
  if (argument_count != 7 || std::string_view(arguments[1]) != "rank") return -1;
  // No rank outlives its test, and none leaves a core file.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == 1) return 1;
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  try {
    enter_host();
    run(scenario_named(arguments[2]), hosting_of(arguments[3]), std::atoi(arguments[4]), std::atoi(arguments[5]),
        arguments[6]);
    return 0;
  } catch (const ScenarioSkipped& skipped) {
    tell("skipped: " + skipped.why);
    return kSkippedExitCode;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

Command rank_command(const Scenario& scenario, Hosting hosting, int size, int rank, const std::string& job,
                     std::vector<std::string> environment) {
  environment.push_back("BATON_WAIT_TIMEOUT=" + scenario.wishes.wait_timeout);
  environment.push_back("BATON_JOIN_TIMEOUT=" + scenario.wishes.join_timeout);
  return this_program(
      {"rank", scenario.name, std::string(name_of(hosting)), std::to_string(size), std::to_string(rank), job},
      std::move(environment));
}

std::string fresh_job_name() {
  static int count = 0;
  return fmt::format("test-{}-{}", ::getpid(), ++count);
}

bool is_on_hosts() { return !hub_of_rank().empty(); }

std::shared_ptr<comm::World> connect_on_hosts(const Newcomer& place) {
  return job::connect(meet_at_hub({hub_of_rank(), place.rendezvous, static_cast<std::uint32_t>(place.rank),
                                   hosts_of_ranks(), address_of_host()}),
                      options());
}

Domain join_and_tell(const Newcomer& place) {
  auto world =
      is_on_hosts() ? connect_on_hosts(place) : job::connect(place.rendezvous, place.rank, place.size, options());
  if (world->backend().name() != "inproc") {
    std::string token;
    for (const std::uint8_t byte : world->control().token) token += fmt::format("{:02x}", byte);
    tell("token=" + token);
  }
  return Domain(comm::DomainState::of_world(std::move(world)));
}

void tell(std::string_view text) {
  const std::string line = fmt::format("@{} {}\n", comm::monotonic_ns(), text);
  // One call, so that lines of several threads and of a process that is about to be killed stay whole.
  static_cast<void>(!::write(1, line.data(), line.size()));
}

std::int64_t when_told(const std::string& output, std::string_view text) {
  const std::size_t found = output.find(fmt::format(" {}\n", text));
  const std::size_t at = found == std::string::npos ? found : output.rfind('@', found);
  return at == std::string::npos ? -1 : std::strtoll(output.c_str() + at + 1, nullptr, 10);
}

}  // namespace baton::test
