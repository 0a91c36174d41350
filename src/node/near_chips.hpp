// Chips on the node's own host that an agent has started: each comes to the node and gets its memory, as if the node
// had started it.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <string>
#include <thread>

#include "base/unique_fd.hpp"
#include "comm/control_setup.hpp"
#include "node/chips.hpp"

namespace baton::node {

class NearChips {
 public:
  /// For `chips` chips of a node whose memory is `segment`. `on_news` is called on a thread of this object when one can
  /// be rung.
  NearChips(std::size_t chips, const UniqueFd& segment, std::function<void()> on_news);
  /// The chips that are left end.
  ~NearChips();
  NearChips(const NearChips&) = delete;
  NearChips& operator=(const NearChips&) = delete;

  /// Where they find it: a local address that nobody can guess.
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

  /// Whether this chip has come. Known once the node has met its chips: they come here first.
  [[nodiscard]] bool has(std::size_t chip) const noexcept;
  /// Whether it can be rung, which it can before it counts as ready.
  [[nodiscard]] bool can_ring(std::size_t chip) const noexcept;
  void ring(std::size_t chip) noexcept;
  /// Marks all ranks of chips as dead on this host.
  void end_waits() noexcept;
  /// Throws Error (system).
  void give(std::size_t chip, const SharedBuffer& buffer);

 private:
  struct Seat {
    UniqueFd socket;  // read by the thread until the chip can be rung
    std::atomic<bool> has_come{false};
    std::atomic<bool> can_ring{false};
  };

  void listen();
  void accept();
  /// What a stranger says first.
  void seat(UniqueFd stranger);
  /// The control segment of a chip that has joined.
  void take_control(Seat& seat);

  std::size_t chips_;
  std::function<void()> on_news_;
  std::string address_;
  UniqueFd socket_;
  UniqueFd wake_;
  const UniqueFd& segment_;
  std::deque<Seat> seats_;         // by chip
  std::list<UniqueFd> strangers_;  // of the thread
  /// All chips of a host have one. Written once, before the first chip can be rung.
  comm::ControlSegment control_;
  std::thread thread_;
};

}  // namespace baton::node
