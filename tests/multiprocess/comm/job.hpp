// A job of real processes, as a test sees it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/leftovers.hpp"
#include "support/processes.hpp"
#include "support/scenario.hpp"

namespace baton::test {

class Job {
 public:
  Job(std::string_view scenario, int size, std::vector<std::string> environment = {},
      Reaping reaping = Reaping::at_the_end);
  /// Another job under the name of `before`.
  Job(const Job& before, std::string_view scenario, int size);

  /// Starts rank 0, waits until it is the host of the job, then starts the others.
  void start();
  /// Starts one rank. Processes are numbered in the order of their starts.
  void start(int rank) { start(rank, size_, {}); }
  void start(int rank, int size, std::vector<std::string> environment);
  /// Starts all ranks on the hosts of this program's lab; they meet at `hub`.
  void start_on_hosts(const std::string& hub, const std::vector<std::uint32_t>& host_of);
  /// Waits until the job has a host.
  void wait_for_host();

  /// Waits for all ends; fails the test if something runs on or is left behind.
  void finish();

  [[nodiscard]] Processes& processes() noexcept { return processes_; }
  [[nodiscard]] const std::string& output(int process) const {
    return processes_.output(static_cast<std::size_t>(process));
  }
  [[nodiscard]] int status(int process) const { return processes_.status(static_cast<std::size_t>(process)); }
  [[nodiscard]] int pid(int process) const { return processes_.pid(static_cast<std::size_t>(process)); }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Expects that `process` caught `code` and that its report contains every one of `parts`.
  void expect_caught(int process, std::string_view code, const std::vector<std::string>& parts) const;
  /// Expects that `process` caught peer_died, told of `victim` by rank and pid and `cause`, soon after its death: 100
  /// ms are promised, a busy machine gets more. Returns how long it took.
  std::chrono::nanoseconds expect_death_seen(int process, int victim, std::string_view cause = "SIGKILL") const;
  /// The same of all ranks but `victim`, which tell of its host, too.
  void expect_death_seen_on_hosts(const std::vector<std::uint32_t>& host_of, int victim) const;
  /// From what `victim` did to die until the system told of its end: until then it takes back the memory.
  [[nodiscard]] std::chrono::nanoseconds time_to_end(int victim) const;
  /// Expects that `process` ended with 0 and caught nothing.
  void expect_success(int process) const;

 private:
  Leftovers leftovers_;
  const Scenario& scenario_;
  int size_;
  std::vector<std::string> environment_;
  std::string name_;
  Processes processes_;
};

/// The longest time from a death to an error about it so far.
[[nodiscard]] std::chrono::nanoseconds worst_delay();

}  // namespace baton::test
