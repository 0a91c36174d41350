// From a rendezvous to a membership, for ranks of one process.
#include "job/connect.hpp"

#include <gtest/gtest.h>
#include <baton/join.hpp>

#include <cstdlib>
#include <future>
#include <utility>
#include <vector>

#include "support/require.hpp"

namespace baton::job {
namespace {

using namespace std::chrono_literals;
using test::require_error;

Options patient() {
  Options options;
  options.join_timeout = 60s;
  return options;
}

Options hasty() {
  Options options;
  options.join_timeout = 100ms;
  return options;
}

std::future<std::shared_ptr<comm::World>> joining(std::string name, int rank, int size, Options options = patient()) {
  return std::async(std::launch::async, [=] { return connect(name, rank, size, options); });
}

TEST(Connect, ChoosesTheBackendByName) {
  EXPECT_EQ(connect("inproc:x", 0, 1, patient())->backend().name(), "inproc");
  EXPECT_EQ(connect("shm:test-connect", 0, 1, patient())->backend().name(), "shm");
  Options options = patient();
  options.backend = "inproc";
  EXPECT_EQ(connect("x", 0, 1, options)->backend().name(), "inproc");
  require_error(Code::unknown_backend, {"\"smoke\"", "shm, inproc and ucx"},
                [] { static_cast<void>(connect("smoke:x", 0, 1, patient())); });
  require_error(Code::unknown_backend, {"\"\""}, [] { static_cast<void>(connect(":x", 0, 1, patient())); });
}

TEST(Connect, RanksOfSeveralHostsAreThoseThatALauncherStarted) {
  require_error(Code::unsupported, {"rank 1 of 2", "\"x\"", "baton run --hosts"},
                [] { static_cast<void>(connect("ucx:x", 1, 2, patient())); });
  const std::pair<const char*, const char*> variables[] = {{"BATON_RANK", "1"},
                                                           {"BATON_SIZE", "2"},
                                                           {"BATON_HOST_COUNT", "2"},
                                                           {"BATON_JOB", "own"},
                                                           {"BATON_AGENT", "nobody"}};
  for (const auto& [name, value] : variables) ::setenv(name, value, 1);
  for (const char* name : {"own", "ucx:own", "ucx:x"}) {
    require_error(Code::invalid_argument, {"rank 0 of 2", "is rank 1 of 2 for baton run"},
                  [&] { static_cast<void>(connect(name, 0, 2, patient())); });
    require_error(Code::peer_died, {"the agent of this host"},
                  [&] { static_cast<void>(connect(name, 1, 2, patient())); });
  }
  // Other names are what they always were.
  EXPECT_EQ(connect("shm:own", 0, 1, patient())->backend().name(), "shm");
  EXPECT_EQ(connect("test-connect-x", 0, 1, patient())->backend().name(), "shm");
  for (const auto& [name, value] : variables) ::unsetenv(name);
}

TEST(Connect, ChecksItsArguments) {
  require_error(Code::invalid_argument, {"no name"}, [] { static_cast<void>(connect("inproc:", 0, 1, patient())); });
  require_error(Code::invalid_argument, {"no name"}, [] { static_cast<void>(connect("", 0, 1, patient())); });
  require_error(Code::invalid_argument, {"0 ranks"}, [] { static_cast<void>(connect("inproc:x", 0, 0, patient())); });
  require_error(Code::invalid_argument, {"-3 ranks"}, [] { static_cast<void>(connect("inproc:x", 0, -3, patient())); });
  require_error(Code::invalid_argument, {"65537 ranks", "1 to 65536"},
                [] { static_cast<void>(connect("inproc:x", 0, 65'537, patient())); });
  require_error(Code::out_of_range, {"rank 2 is outside 0..1"},
                [] { static_cast<void>(connect("inproc:x", 2, 2, patient())); });
  require_error(Code::out_of_range, {"rank -1"}, [] { static_cast<void>(connect("inproc:x", -1, 2, patient())); });
}

TEST(Connect, ThreadsMeetUnderAName) {
  auto other = joining("inproc:meet", 1, 2);
  const auto world = connect("inproc:meet", 0, 2, patient());
  EXPECT_EQ(world->size(), 2U);
  EXPECT_EQ(other.get()->rank(), 1U);
  // The name is free again.
  auto next = joining("inproc:meet", 0, 2);
  EXPECT_EQ(connect("inproc:meet", 1, 2, patient())->rank(), 1U);
}

TEST(Connect, MissingThreadsAreNamed) {
  auto other = joining("inproc:missing", 2, 4, hasty());
  require_error(Code::join_timeout, {"of 4 did not arrive at \"missing\" within 100 ms", " 3"},
                [] { static_cast<void>(connect("inproc:missing", 1, 4, hasty())); });
  require_error(Code::join_timeout, {}, [&] { static_cast<void>(other.get()); });
  // Those who gave up can come again.
  auto one = joining("inproc:missing", 1, 2);
  EXPECT_EQ(connect("inproc:missing", 0, 2, patient())->size(), 2U);
}

TEST(Connect, ARankOfAThreadIsTakenOnce) {
  auto first = joining("inproc:taken", 0, 2);
  // Whichever comes second is refused.
  Options options = hasty();
  for (bool refused = false; !refused;) {
    try {
      static_cast<void>(connect("inproc:taken", 0, 2, options));
    } catch (const Error& error) {
      refused = error.code() == Code::rank_taken;
      if (!refused && error.code() != Code::join_timeout) throw;
    }
    if (!refused && first.wait_for(0s) == std::future_status::ready) {
      // The other one was second.
      require_error(Code::rank_taken, {"rank 0 of \"taken\" is taken"}, [&] { static_cast<void>(first.get()); });
      return;
    }
  }
  EXPECT_EQ(connect("inproc:taken", 1, 2, patient())->rank(), 1U);
  static_cast<void>(first.get());
}

TEST(Connect, ThreadsMustAgreeOnTheSize) {
  auto first = joining("inproc:size", 0, 3, hasty());
  bool refused = false;
  while (!refused && first.wait_for(0s) != std::future_status::ready) {
    try {
      static_cast<void>(connect("inproc:size", 1, 2, hasty()));
    } catch (const Error& error) {
      refused = error.code() == Code::join_refused;
      if (refused) test::require_report(error, Code::join_refused, {"has 2 ranks; those already there say 3"});
    }
  }
  // Unless the other came while this one waited: then it was refused instead.
  require_error(refused ? Code::join_timeout : Code::join_refused, {}, [&] { static_cast<void>(first.get()); });
}

TEST(Join, ByNameWhateverTheEnvironmentSays) {
  Domain domain = baton::join("inproc:named", 0, 1);
  EXPECT_EQ(domain.size(), 1);
  EXPECT_EQ(domain.name(), "world");
  domain.barrier();
}

}  // namespace
}  // namespace baton::job
