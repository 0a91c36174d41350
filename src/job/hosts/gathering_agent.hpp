// The agent of a host whose ranks another launcher started: the first of them starts it (`baton gather`).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "job/hosts/gathering_root.hpp"
#include "job/hosts/picture_keeper.hpp"
#include "job/hosts/rank_desk.hpp"
#include "job/hosts/root_seeker.hpp"
#include "job/launch/signal_guard.hpp"

namespace baton::job {

/// Stands for the ranks of its host towards the others. It ends when they have gone; the one of rank 0 stays until the
/// agents of the other hosts have.
class GatheringAgent {
 public:
  /// `socket` listens for ranks.
  GatheringAgent(GatheringOrder order, UniqueFd socket, std::string version);
  GatheringAgent(const GatheringAgent&) = delete;
  GatheringAgent& operator=(const GatheringAgent&) = delete;

  void run();

 private:
  void on_join(const Join& join, pid_t pid);
  /// Rank 0 is here, so the others come here.
  void become_root(std::uint32_t size);
  void seek(const std::vector<std::string>& roots, std::vector<std::uint16_t> ports);
  void on_found(std::unique_ptr<TlsChannel> channel);
  void on_frame(FrameReader& frame);
  void on_welcome(Welcome welcome);
  /// Somebody here asks what all ranks do.
  void on_asked();
  /// Others ask what the ranks of this host do.
  void on_look();
  /// What there is to see of the ranks of this host.
  [[nodiscard]] std::vector<std::string> look_here() const;
  /// The control segment of this host; nullptr if no rank has it open.
  [[nodiscard]] std::shared_ptr<comm::SharedMemory> control() const;
  [[nodiscard]] bool is_here(std::uint32_t rank) const noexcept { return welcome_->host_of[rank] == host_; }
  void on_closed(const std::string& why);
  void on_overdue();
  void on_tick();
  void to_root(std::string_view frame);
  /// Of a rank of this host, if that is what `frame` tells.
  void note_end(std::string_view frame);
  void refuse_all(const Error& error);
  void say_farewell();
  [[nodiscard]] bool needed();

  GatheringOrder order_;
  std::string version_;
  std::optional<JobToken> token_;
  SignalGuard signals_;  // who started this process decides nothing by them
  EventLoop loop_;
  RankDesk desk_;
  Timer tick_;
  Timer overdue_;
  std::unique_ptr<RootSeeker> seeker_;
  std::unique_ptr<GatheringRoot> root_;
  std::unique_ptr<Link> link_;        // to the root
  std::vector<std::string> pending_;  // for the root, until it is found
  std::optional<Error> failure_;
  std::optional<Welcome> welcome_;
  std::uint32_t host_ = 0;  // this one, in the welcome
  TickScale scale_;
  std::optional<PictureKeeper> picture_;
  std::vector<bool> has_left_;  // by rank
  bool someone_came_ = false;
  bool gave_up_ = false;
};

/// What `baton gather` does, with an order on standard input and a listening socket as descriptor 3. Returns the exit
/// code. For processes with one thread.
[[nodiscard]] int run_gathering_agent(const std::string& version);

}  // namespace baton::job
