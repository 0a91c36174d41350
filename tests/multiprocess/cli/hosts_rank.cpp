// A rank that meets the others as a backend for several hosts does: through its agent, or one that it finds or starts.
#include <unistd.h>

#include <cstring>
#include <iostream>
#include <mutex>

#include <baton/error.hpp>

#include "comm/wait_record.hpp"
#include "job/agent_rendezvous.hpp"
#include "job/gathering.hpp"
#include "job/launcher_environment.hpp"

namespace {

using namespace std::chrono_literals;

void say(const std::string& text) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::cout << text << std::endl;
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "meet";
  try {
    const auto assignment = baton::job::find_assignment();
    const auto rank = static_cast<std::uint32_t>(assignment->rank);
    const auto deadline = baton::Deadline::after(60s);
    const auto me = assignment->agent.empty() ? baton::job::join_gathering(*assignment, baton::options())
                                              : baton::job::join_through_agent(assignment->agent, rank, deadline);
    me->on_end([&](const baton::comm::RankEnd& end) {
      say("end " + std::to_string(end.rank) + " state " + std::to_string(static_cast<int>(end.state)) + " kind " +
          std::to_string(static_cast<int>(end.kind)) + " value " + std::to_string(end.value) + " at " +
          std::to_string(baton::comm::monotonic_ns()) + " " + end.reason);
    });
    if (what == "die before" && rank == me->size() - 1) ::_exit(3);
    for (int round = 0; round < 3; ++round) {
      const std::string mine = std::to_string(round) + "." + std::to_string(rank) + std::string(rank * 1000, 'x');
      const auto all = me->exchange(bytes_of(mine), deadline);
      for (std::uint32_t other = 0; other < me->size(); ++other) {
        const std::string wanted = std::to_string(round) + "." + std::to_string(other) + std::string(other * 1000, 'x');
        if (all[other] != bytes_of(wanted)) throw std::runtime_error("a record differs");
      }
    }
    say("met on " + me->host_name(me->host_of(rank)) + " at " + me->address());
    if (what == "watch" || (what == "first leaves" && rank != 0)) ::pause();
    me->report_end({.rank = rank, .state = baton::wire::RankState::left, .kind = {}, .value = 0, .reason = {}});
  } catch (const std::exception& error) {
    say(error.what());
    return 1;
  }
}
