// One agent at work.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "job/hosts/link.hpp"
#include "job/hosts/messages.hpp"
#include "job/hosts/picture_keeper.hpp"
#include "job/hosts/pipe_feeder.hpp"
#include "job/hosts/rank_desk.hpp"
#include "job/hosts/stillness_poll.hpp"
#include "job/hosts/stream_sender.hpp"
#include "job/hosts/timer.hpp"
#include "job/hosts/trace_source.hpp"
#include "job/launch/local_ranks.hpp"

namespace baton::job {

class AgentRun final : private RankEvents, private RankOutput {
 public:
  /// `channel` leads to the launcher. `address` is that of this host, as others reach it.
  AgentRun(SignalGuard& signals, std::unique_ptr<Channel> channel, std::string address);
  AgentRun(const AgentRun&) = delete;
  AgentRun& operator=(const AgentRun&) = delete;

  /// Until the job is over, or the launcher is gone. The exit code.
  [[nodiscard]] int run(const Hello& hello);

 private:
  struct Streams {
    std::unique_ptr<StreamSender> output;
    std::unique_ptr<StreamSender> error;
    pid_t pid = 0;
  };

  void on_rank_started(int rank, pid_t pid, const std::string& host) override;
  void on_rank_ended(const RankEnding& ending) override;
  void on_start_failure(const Error& error) override;
  void add(int rank, UniqueFd output, UniqueFd error) override;

  void on_frame(FrameReader& frame);
  void on_job(JobOrder order);
  void start_ranks(JobOrder order);
  /// This host has the node alone, which runs already.
  void meet_node(const JobOrder& order);
  [[nodiscard]] std::optional<comm::ControlView> control() const;
  void on_room(FrameReader& frame);
  void on_look();
  void on_heartbeat();
  /// Tells the launcher if all ranks of this host begin to wait, or do no longer.
  void watch_stillness();
  void answer_stillness(std::uint64_t round);
  void on_signals();
  void end_everything();
  void finish();

  SignalGuard& signals_;
  EventLoop loop_;
  std::string address_;
  Link launcher_;
  Timer heartbeat_;
  TickScale scale_;
  std::optional<RankDesk> desk_;
  std::optional<PictureKeeper> picture_;
  std::unique_ptr<LocalRanks> ranks_;
  std::optional<ControlWatch> node_;  // in the place of ranks
  std::map<int, Streams> streams_;    // by rank
  std::unique_ptr<PipeFeeder> input_;
  std::optional<TraceSource> trace_;
  bool is_one_of_several_ = false;                     // hosts with ranks
  comm::HostStillness seen_;                           // at the last heartbeat
  std::optional<comm::HostStillness> told_stillness_;  // to the launcher
  int first_rank_ = 0;
  int count_ = 0;
  bool over_ = false;  // the launcher has no more orders
  bool lost_ = false;  // the launcher is gone, or somebody told this process to end
  std::string why_lost_;
};

}  // namespace baton::job
