// Where the ranks of a job gather that another launcher started on several hosts: at the agent of rank 0.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "job/gathering_messages.hpp"
#include "job/hosts/hosts_look.hpp"
#include "job/hosts/join_desk.hpp"
#include "job/hosts/link.hpp"

namespace baton::job {

/// Every agent connects to it, also that of its own host. When all ranks have been claimed it tells the agents who is
/// where, and passes on what they say. One thread.
class GatheringRoot {
 public:
  struct Settings {
    std::string job;
    std::string version;    // which all agents must have
    std::string interface;  // to listen on; empty: all
    std::vector<std::uint16_t> ports;
    std::uint32_t size = 0;
    std::chrono::nanoseconds patience{};  // of the ranks; for messages
  };

  /// Throws Error if it cannot listen.
  GatheringRoot(EventLoop& loop, const JobToken& token, Settings settings);
  ~GatheringRoot();
  GatheringRoot(const GatheringRoot&) = delete;
  GatheringRoot& operator=(const GatheringRoot&) = delete;

  [[nodiscard]] Reachable reachable() const { return {desk_.addresses(), desk_.port()}; }
  /// Whether agents of other hosts are connected.
  [[nodiscard]] bool anyone_else() const noexcept;
  /// Call every kHeartbeat.
  void on_tick();

 private:
  struct Host {
    std::unique_ptr<Link> link;
    Deadline deadline = Deadline::never();  // for its introduction
    int fd = -1;                            // for its address
    std::optional<Attend> attend;
    std::vector<std::uint32_t> ranks;
    std::uint32_t index = 0;
  };
  struct Rank {
    Host* host = nullptr;
    std::int32_t pid = 0;
    std::uint32_t ended_membership = 0;  // the last one whose end is told
  };

  void admit(std::unique_ptr<Channel> channel);
  void on_frame(Host& host, FrameReader& frame);
  void on_attend(Host& host, FrameReader& frame);
  void on_claim(Host& host, const Claim& claim);
  void on_end(Host& host, const comm::RankEnd& end);
  void on_closed(Host& host, const std::string& why);
  void welcome_all();
  void prepare_looks();
  /// Throws Error (protocol) unless it is one of the hosts that have gathered.
  [[nodiscard]] HostsLook& look_of(const Host& host);
  [[nodiscard]] std::string address_of(const Host& host) const;
  [[nodiscard]] bool is_own(const Host& host) const noexcept { return ranks_.front().host == &host; }
  void check_owner(const Host& host, std::uint32_t rank) const;
  void tell_end(const comm::RankEnd& end, const Host* but);
  void pass_on(std::string_view frame, const Host* but);
  /// There will be no job.
  void fail_all(const Error& error);
  [[nodiscard]] Error missing_ranks() const;

  EventLoop& loop_;
  Settings settings_;
  JoinDesk desk_;
  std::list<Host> hosts_;
  std::vector<Host*> gathered_hosts_;  // by index
  std::optional<HostsLook> look_;
  std::vector<Rank> ranks_;
  std::uint32_t claimed_ = 0;
  bool gathered_ = false;
  std::optional<Error> failure_;
};

}  // namespace baton::job
