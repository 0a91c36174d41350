// However a node ends, nothing of it is left: no process, no memory, no socket.
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>

#include <gmock/gmock.h>

#include "base/liveness.hpp"
#include "node_fixture.hpp"
#include "node_kernels.hpp"
#include "support/leftovers.hpp"
#include "support/processes.hpp"

namespace baton::test {
namespace {

constexpr std::chrono::seconds kPatience{30};

void say(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

/// The program of a node whose chips wait for a signal that never comes. `how`: what the orchestration does then.
int live(int chips, const std::string& how) {
  Worker worker(node_options({Isolation::processes, chips}));
  std::string pids = "chips";
  for (int chip = 0; chip < chips; ++chip) pids += ' ' + std::to_string(worker.pid_of(chip));
  say(pids);
  try {
    worker.run([&](Orchestration& o) {
      std::vector<int> all = worker.options().devices;
      const CommBufferSpec signal[] = {{"signal", DType::int32, 1}};
      const DomainHandle domain = o.allocate_domain("all", all, 0, signal);
      for (int chip = 0; chip < chips && how != "idle"; ++chip) {
        TaskArgs args;
        args.add_tensor(domain[chip].buffer("signal").tensor, TensorArgType::inout).add_scalar(1);
        o.submit_next_level(on_chip(node_await), args, chip);
      }
      say("waiting");
      if (how == "throw") throw std::runtime_error("the author gave up");
    });
  } catch (const std::exception& error) {
    say(std::string("threw: ") + error.what());
  }
  if (how == "idle") ::pause();
  return 0;
}

/// The chips that a node named.
std::vector<ProcessId> chips_of(const std::string& output) {
  std::vector<ProcessId> chips;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("chips")) continue;
    std::istringstream words(line.substr(5));
    for (std::uint32_t pid = 0; words >> pid;) {
      // One that is gone has no time of start any more, and counts as ended.
      chips.push_back({pid, process_start_time(pid).value_or(0)});
    }
  }
  return chips;
}

bool ends(const ProcessId& process) {
  const DeathWatch watch(process);
  pollfd entry{watch.fd(), POLLIN, 0};
  return watch.ended() || ::poll(&entry, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count())) == 1;
}

class NodeEnd : public testing::TestWithParam<int> {
 protected:
  void start(const std::string& how) {
    node_ = processes_.start(this_program({"live", std::to_string(GetParam()), how}));
    ASSERT_TRUE(processes_.wait_for_output(node_, "waiting", Deadline::after(kPatience))) << processes_.report();
    chips_ = chips_of(processes_.output(node_));
    ASSERT_EQ(chips_.size(), static_cast<std::size_t>(GetParam())) << processes_.report();
  }
  void expect_nothing_left() {
    for (const ProcessId& chip : chips_) EXPECT_TRUE(ends(chip)) << chip.pid << " still lives";
    EXPECT_TRUE(processes_.finish(Deadline::after(kPatience))) << processes_.report();
    EXPECT_THAT(leftovers_.found({"baton-node"}), testing::IsEmpty()) << processes_.report();
  }

  Leftovers leftovers_;
  Processes processes_;
  std::size_t node_ = 0;
  std::vector<ProcessId> chips_;
};

INSTANTIATE_TEST_SUITE_P(, NodeEnd, testing::Values(2, 8), testing::PrintToStringParamName());

TEST_P(NodeEnd, BySigkillOfTheNode) {
  start("wait");
  processes_.signal(node_, SIGKILL);
  expect_nothing_left();
}

TEST_P(NodeEnd, BySigkillOfAnIdleNode) {
  start("idle");
  processes_.signal(node_, SIGKILL);
  expect_nothing_left();
}

TEST_P(NodeEnd, ByAnInterruptFromTheTerminal) {
  start("wait");
  processes_.signal(node_, SIGINT);
  expect_nothing_left();
}

TEST_P(NodeEnd, ByAnExceptionOfTheOrchestration) {
  start("throw");
  expect_nothing_left();
  EXPECT_THAT(processes_.output(node_), testing::HasSubstr("threw: the author gave up"));
}

TEST_P(NodeEnd, BySigkillOfAChip) {
  start("wait");
  ASSERT_EQ(::kill(static_cast<pid_t>(chips_.back().pid), SIGKILL), 0);
  expect_nothing_left();
  EXPECT_THAT(processes_.output(node_), testing::HasSubstr("died: SIGKILL"));
  EXPECT_THAT(processes_.output(node_), testing::HasSubstr("'node_await'"));
  EXPECT_EQ(processes_.status(node_), 0) << processes_.report();
}

}  // namespace

int live_as_node(int count, char** arguments) {
  return count == 4 && std::string(arguments[1]) == "live" ? live(std::stoi(arguments[2]), arguments[3]) : -1;
}

}  // namespace baton::test

int main(int count, char** arguments) {
  if (const int code = baton::test::live_as_node(count, arguments); code >= 0) return code;
  baton::test::isolate_sockets();
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
