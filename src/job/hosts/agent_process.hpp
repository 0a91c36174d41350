// The command that brings an agent to life on another host: ssh, or what the user gives in its place.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include <baton/error.hpp>

#include "base/deadline.hpp"
#include "base/unique_fd.hpp"
#include "job/launch/event_loop.hpp"

namespace baton::job {

struct AgentCommand {
  std::string host;
  /// What runs a command on a host: "ssh -o BatchMode=yes {host}". {host} becomes its name; without, it comes last.
  std::string launch;
  /// The path of `baton` there.
  std::string baton;
};

inline constexpr const char* kDefaultLaunchAgent = "ssh -o BatchMode=yes {host}";

/// As the shell gets it.
[[nodiscard]] std::string shell_command(const AgentCommand& command);

/// A child of this process. What it writes until the agent has come is kept, for the message if it does not come.
class AgentProcess {
 public:
  /// Starts it with `input` on standard input. Throws Error (launch_failed).
  AgentProcess(EventLoop& loop, AgentCommand command, const std::string& input);
  /// Kills it if it still runs, and reaps it.
  ~AgentProcess();
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;

  /// Its wait status once it has ended.
  [[nodiscard]] std::optional<int> status();
  /// Waits for its end.
  void wait_for_end(const Deadline& deadline);
  /// Why there is no agent, although the command ended with status().
  [[nodiscard]] Error failure();
  /// The last lines that it wrote.
  [[nodiscard]] std::vector<std::string> last_lines() const;

 private:
  void listen();

  EventLoop& loop_;
  AgentCommand command_;
  UniqueFd output_;
  std::string said_;
  pid_t pid_ = -1;
  std::optional<int> status_;
};

}  // namespace baton::job
