// Processes that a test starts, listens to, stops and kills.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.hpp"
#include "base/unique_fd.hpp"

namespace baton::test {

/// A program with its arguments. `environment` (NAME=value) replaces what the test itself has of these names; variables
/// of launchers and of Baton are never inherited.
struct Command {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
};

/// This program itself, with `arguments`.
[[nodiscard]] Command this_program(std::vector<std::string> arguments, std::vector<std::string> environment = {});

/// Whether ended processes stay zombies until the end of the test. A reaped process may take its cause of death along.
enum class Reaping : std::uint8_t { at_the_end, at_once };

class Processes {
 public:
  explicit Processes(Reaping reaping = Reaping::at_the_end) : reaping_(reaping) {}
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  /// Kills and reaps what is left.
  ~Processes();

  /// Starts one more; returns its number, from 0 on.
  std::size_t start(const Command& command);

  [[nodiscard]] std::size_t count() const noexcept { return all_.size(); }
  [[nodiscard]] pid_t pid(std::size_t number) const { return all_.at(number).pid; }
  void signal(std::size_t number, int signal) const;

  /// Waits until `number` has written `text`. False if it ended or `deadline` passed first.
  [[nodiscard]] bool wait_for_output(std::size_t number, std::string_view text, Deadline deadline);

  /// Waits until `number` has ended. False at the deadline.
  [[nodiscard]] bool wait_for_end(std::size_t number, Deadline deadline);

  /// Waits until all have ended and reaps them; kills those that still run at the deadline. False if there were any.
  [[nodiscard]] bool finish(Deadline deadline);

  /// What it wrote to standard output and standard error.
  [[nodiscard]] const std::string& output(std::size_t number) const { return all_.at(number).output; }
  /// In the form of waitpid(); after finish().
  [[nodiscard]] int status(std::size_t number) const { return all_.at(number).status; }

  /// When the system told that it has ended, by the steady clock, which ranks tell by, too.
  [[nodiscard]] std::chrono::nanoseconds when_ended(std::size_t number) const { return all_.at(number).when_ended; }

  /// All outputs with their exit statuses, for the message of a failed test.
  [[nodiscard]] std::string report() const;

 private:
  struct Process {
    pid_t pid = -1;
    UniqueFd pidfd;
    UniqueFd pipe;
    std::string output;
    bool ended = false;
    std::chrono::nanoseconds when_ended{0};
    bool reaped = false;
    int status = 0;
  };

  /// Takes what has come, waiting for more until `deadline` at most.
  void listen(Deadline deadline);
  void read_output(Process& process);
  void reap(Process& process);

  Reaping reaping_;
  std::vector<Process> all_;
};

/// How often the thread of this process with that name has fallen asleep; 0 without such a thread.
[[nodiscard]] std::uint64_t sleeps_of_thread(std::string_view name);

}  // namespace baton::test
