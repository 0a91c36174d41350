// The ranks of a job on other hosts, each of which has an agent.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "job/host_list.hpp"
#include "job/hosts/agent_process.hpp"
#include "job/hosts/hosts_look.hpp"
#include "job/hosts/join_desk.hpp"
#include "job/hosts/link.hpp"
#include "job/hosts/messages.hpp"
#include "job/hosts/picture_keeper.hpp"
#include "job/hosts/pipe_feeder.hpp"
#include "job/hosts/stillness_poll.hpp"
#include "job/hosts/stream_sender.hpp"
#include "job/hosts/timer.hpp"
#include "job/hosts/trace_collector.hpp"
#include "job/launch/job_run.hpp"
#include "job/launch/open_files_limit.hpp"
#include "job/launch/rank_processes.hpp"

namespace baton::job {

struct HostsPlan {
  JobOrder order;  // all but the number of the host
  std::string launch_agent = kDefaultLaunchAgent;
  std::string remote_baton;  // the path of `baton` on the hosts
  std::string interface;     // over which agents reach the launcher; empty: any
  std::string version;       // which all agents must have, too
  std::string trace = {};    // the file on this host to which goes what all ranks record; empty: none
  /// How long an agent may take to come once its start has begun.
  std::chrono::nanoseconds patience = std::chrono::seconds(30);
  /// Told where the node of JobOrder::node joins.
  std::function<void(const Meeting&)> on_meeting = {};
  /// Told what RemoteRanks::ask_whether_stopped() asked for.
  std::function<void(const ProcessSight&)> on_process_sight = {};
};

/// `environment` without what belongs to this host: its name, its display and their like.
[[nodiscard]] std::vector<std::string> environment_for_other_hosts(std::vector<std::string> environment);

class RemoteRanks final : public RankProcesses {
 public:
  RemoteRanks(HostsPlan plan, const JobRun::Surroundings& around);
  ~RemoteRanks() override;

  [[nodiscard]] const std::string& job() const noexcept override { return plan_.order.job; }
  void start(int input_fd) override;
  [[nodiscard]] bool any() const noexcept override;
  void signal(int number) override;
  void signal_rank(int rank, int number) override;
  void ask_whether_stopped(int rank);
  void on_child_end() override;
  void refresh(const Deadline& deadline) override;
  [[nodiscard]] std::optional<RankSnapshot> look(int rank) override;
  [[nodiscard]] std::vector<std::string> explain() override;
  void end_descendants() override;
  [[nodiscard]] bool output_comes() const noexcept override;

 private:
  /// How far a host has come. Moves only forward.
  enum class HostState : std::uint8_t { waiting, starting, connected, running, finishing, finished, gone };
  struct Connection;
  struct Host {
    HostShare share;
    std::uint32_t index = 0;
    HostState state = HostState::waiting;
    std::unique_ptr<AgentProcess> process;
    Deadline deadline = Deadline::never();  // for its agent to come
    Connection* connection = nullptr;
    int live = 0;  // ranks that may run there
  };
  /// Of somebody who knows the token; without a host until it has said which one it is on.
  struct Connection {
    std::unique_ptr<Link> link;
    Deadline deadline = Deadline::never();
    Host* host = nullptr;
    int fd = -1;  // for its address
  };
  struct Rank {
    Host* host = nullptr;
    std::unique_ptr<PipeFeeder> output;
    std::unique_ptr<PipeFeeder> error;
    bool started = false;
    bool ended = false;
    std::uint32_t ended_membership = 0;  // the last one whose end all other ranks know
  };

  void admit(std::unique_ptr<Channel> channel);
  void on_frame(Connection& connection, FrameReader& frame);
  void on_hello(Connection& connection, FrameReader& frame);
  void on_host_frame(Host& host, FrameReader& frame);
  void on_started(Host& host, FrameReader& frame);
  void on_meeting(Host& host, FrameReader& frame);
  /// Whether its only rank is the node that drives the others.
  [[nodiscard]] bool has_node(const Host& host) const noexcept {
    return plan_.order.node != 0 && &host == &hosts_.back();
  }
  void on_ended(Host& host, const RankEnding& ending);
  void on_closed(Connection& connection, const std::string& why);
  void on_seen(Host& host, FrameReader& frame);
  void on_tick();

  [[nodiscard]] HostsLook::Surroundings look_surroundings();
  void end_look(std::span<const std::uint32_t> silent);
  void tell_deadlock();

  /// As many agents at a time as is of use; the others when some of these have come.
  void start_agents();
  void start_agent(Host& host);
  void order_all();
  void pass_on(std::string_view frame, const Host* but);
  void tell_end(const comm::RankEnd& end, const Host* but);
  void lose(Host& host, const std::string& why);
  /// Before the ranks have been ordered: there will be none.
  void abandon();
  void give_up(const Error& error);
  void give_up_on_missing();
  /// What the clocks of the hosts show at the end, too.
  void compare_clocks_at_end();
  void send(Host& host, std::string_view frame);
  [[nodiscard]] Rank& rank_of(Host& host, std::uint32_t rank);

  HostsPlan plan_;
  EventLoop& loop_;
  RankOutput& output_;
  RankEvents& events_;
  OpenFilesLimit open_files_;
  JobToken token_;
  JoinDesk desk_;
  Timer tick_;
  PictureKeeper picture_;
  std::vector<Host> hosts_;
  HostsLook look_;
  std::optional<TraceCollector> trace_;
  std::optional<StillnessPoll> stillness_;
  bool tells_deadlock_ = false;  // at the end of the look that goes on
  std::list<Connection> connections_;
  std::vector<Rank> ranks_;
  UniqueFd input_source_;  // until there is somebody to send it to
  std::unique_ptr<StreamSender> input_;
  bool ordered_ = false;
  bool gave_up_ = false;
};

}  // namespace baton::job
