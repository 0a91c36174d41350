// Where the ranks of one host meet those of the others: their agent, at a local socket.
#pragma once

#include <sys/types.h>

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/liveness.hpp"
#include "base/unique_fd.hpp"
#include "comm/rendezvous.hpp"
#include "job/gathering_messages.hpp"
#include "job/hosts/link.hpp"
#include "job/hosts/timer.hpp"
#include "job/launch/event_loop.hpp"
#include "job/rank_messages.hpp"

namespace baton::job {

class RankDesk {
 public:
  /// The ranks of this host are in one piece.
  struct Ranks {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  using Send = std::function<void(std::string_view frame)>;
  using OnJoin = std::function<void(const Join& join, pid_t pid)>;

  /// `to_others` takes frames for the other hosts.
  RankDesk(EventLoop& loop, Welcome welcome, Ranks ranks, Send to_others);
  /// For ranks that come on their own to `socket`, which listens: `on_join` hears of each, and they wait for welcome()
  /// or for refusal.
  RankDesk(EventLoop& loop, UniqueFd socket, OnJoin on_join, Send to_others);
  ~RankDesk();
  RankDesk(const RankDesk&) = delete;
  RankDesk& operator=(const RankDesk&) = delete;

  /// The value of BATON_AGENT, if this object chose it.
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

  /// A record, or the end of a rank, came from another host.
  void pass_on(FrameReader& frame);
  /// The ranks that came meet the others.
  void welcome(Welcome welcome);
  /// The rank of `failure`, or the waiter, does not: its connection is closed. A rank that is told may be claimed
  /// again.
  void refuse(const Failure& failure);
  void send(std::uint32_t rank, std::string_view frame);
  /// The processes of the ranks that are connected.
  [[nodiscard]] std::map<std::uint32_t, pid_t> processes() const;
  [[nodiscard]] bool has(std::uint32_t rank) const noexcept { return seats_.contains(rank); }
  /// Whether there are connections of ranks, or of who has not said yet which one it is, or ends that are not told yet.
  [[nodiscard]] bool anyone() const noexcept;
  /// The process that was started as `rank` ended with the wait status `status`.
  void process_ended(std::uint32_t rank, pid_t pid, int status);

 private:
  /// Of a process of this user; nobody in particular until it has said which rank it is.
  struct Guest {
    std::unique_ptr<Link> link;
    pid_t pid = 0;
    std::optional<std::uint32_t> rank;
  };
  struct Seat {
    Guest* guest = nullptr;
    std::uint32_t membership = 0;       // how often it has joined: programs may follow each other
    std::uint32_t ended = 0;            // the last membership whose end all know
    bool left_unsaid = false;           // its connection closed without a farewell
    std::optional<comm::RankEnd> gone;  // how its process ended: it does not join again
    [[nodiscard]] bool end_is_known() const noexcept { return ended >= membership; }
    // Of a process that this one did not start:
    std::optional<DeathWatch> watch;
    std::optional<int> status;  // read as it ended: the launcher that reaps it takes it away
  };

  void accept();
  void on_frame(Guest& guest, FrameReader& frame);
  void on_closed(Guest& guest);
  void join(Guest& guest, FrameReader& frame);
  /// Why `rank` cannot be had.
  [[nodiscard]] std::optional<Error> objection(std::uint32_t rank) const;
  void refuse(Guest& guest, const Failure& failure);
  void forget(std::uint32_t rank);
  void tell(const comm::RankEnd& end);
  /// To the ranks of this host as what they are in this membership, now or when they join for it.
  void to_all(std::uint32_t membership, const std::string& frame);
  void look_at_silent();
  /// Others wait for a rank in a membership for which it may not come.
  void answer_for_gone(const Seat& seat, std::uint32_t membership);
  void watch(std::uint32_t rank, Seat& seat, pid_t pid);

  EventLoop& loop_;
  std::optional<Welcome> welcome_;
  OnJoin on_join_;
  Send to_others_;
  std::string address_;
  UniqueFd socket_;
  Timer silent_;
  std::map<std::uint32_t, Seat> seats_;  // by rank
  std::list<Guest> guests_;
  /// What came before all ranks had joined for it.
  struct Late {
    std::uint32_t membership;
    std::string frame;
  };
  std::vector<Late> for_late_;
};

}  // namespace baton::job
