// The launcher of a node's chips on other hosts: a process beside the node, with the agents of `baton run --hosts`.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "job/hosts/link.hpp"
#include "job/hosts/remote_ranks.hpp"
#include "job/launch/output_merger.hpp"
#include "job/launch/signal_guard.hpp"
#include "job/node_messages.hpp"

namespace baton::job {

class NodeLauncher final : private RankEvents {
 public:
  /// `node`: a socket to it. `version` is what the agents must have, too.
  NodeLauncher(UniqueFd node, std::string version);
  NodeLauncher(const NodeLauncher&) = delete;
  NodeLauncher& operator=(const NodeLauncher&) = delete;

  /// Until the node wants no more chips, or is gone. Then none is left, and what they wrote has been passed on.
  void run();

 private:
  void on_rank_started(int rank, pid_t pid, const std::string& host) override;
  void on_rank_ended(const RankEnding& ending) override;
  void on_start_failure(const Error& error) override;

  void on_frame(FrameReader& frame);
  void on_signals();
  void order(NodeOrder order);
  void end_chips();

  SignalGuard signals_;
  EventLoop loop_;
  std::string version_;
  Link node_;
  std::optional<OutputMerger> output_;
  std::unique_ptr<RemoteRanks> chips_;
  bool over_ = false;
};

/// At kNodeFd. Returns the exit code. For processes with one thread.
[[nodiscard]] int run_node_launcher(const std::string& version);

}  // namespace baton::job
