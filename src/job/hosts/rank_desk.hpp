// Where the ranks of one host meet those of the others: their agent, at a local socket.
#pragma once

#include <sys/types.h>

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "comm/rendezvous.hpp"
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

  /// `to_launcher` takes frames for the other hosts.
  RankDesk(EventLoop& loop, Welcome welcome, Ranks ranks, Send to_launcher);
  ~RankDesk();
  RankDesk(const RankDesk&) = delete;
  RankDesk& operator=(const RankDesk&) = delete;

  /// The value of BATON_AGENT.
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

  /// A record, or the end of a rank, came from another host.
  void pass_on(FrameReader& frame);
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
    bool joined = false;        // once
    bool end_is_known = false;  // to all
    bool left_unsaid = false;   // its connection closed without a farewell
  };

  void accept();
  void on_frame(Guest& guest, FrameReader& frame);
  void on_closed(Guest& guest);
  void join(Guest& guest, FrameReader& frame);
  void tell(const comm::RankEnd& end);
  void to_all(const std::string& frame);
  void look_at_silent();
  [[nodiscard]] bool is_here(std::uint32_t rank) const noexcept { return rank - ranks_.first < ranks_.count; }
  [[nodiscard]] Seat& seat(std::uint32_t rank) { return seats_[rank - ranks_.first]; }

  EventLoop& loop_;
  Welcome welcome_;
  Ranks ranks_;
  Send to_launcher_;
  std::string address_;
  UniqueFd socket_;
  Timer silent_;
  std::vector<Seat> seats_;
  std::list<Guest> guests_;
  std::vector<std::string> for_late_;  // what came before all ranks had joined
  std::uint32_t joined_ = 0;
};

}  // namespace baton::job
