// The launcher's side of noticing that no rank of any host can go on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "comm/hosts_stillness.hpp"
#include "job/frames.hpp"

namespace baton::job {

/// What an agent says of its ranks: in answer to a question, or, of round 0, because it has changed.
struct StillnessReport {
  std::uint64_t round = 0;
  comm::HostStillness host;
};
[[nodiscard]] std::string encode(const StillnessReport& report);
/// Throws Error (protocol).
[[nodiscard]] StillnessReport decode_stillness(FrameReader& frame);
[[nodiscard]] std::string encode_stillness_question(std::uint64_t round);

/// Asks all hosts twice once each of them has said that its ranks sleep.
class StillnessPoll {
 public:
  /// `ask` has all hosts asked; `found` is told once for each deadlock.
  StillnessPoll(std::size_t hosts, std::function<void(std::uint64_t round)> ask, std::function<void()> found);

  void on_report(std::uint32_t host, const StillnessReport& report);
  /// Nobody is there any more: whatever its ranks wait for, others are told that they are gone.
  void forget(std::uint32_t host);
  /// Again and again, a few times a second.
  void on_tick() { ask_if_all_sleep(); }

 private:
  struct Host {
    comm::HostStillness last;  // as it was said or seen last
    bool is_awaited = false;   // its answer of this round
  };

  void ask_if_all_sleep();
  void ask();
  void end_round();

  std::function<void(std::uint64_t)> ask_;
  std::function<void()> found_;
  std::vector<Host> hosts_;
  std::uint64_t round_ = 0;
  bool asks_ = false;
  std::vector<comm::HostStillness> first_;  // looks; empty before the first ones
  std::vector<comm::HostStillness> told_;
};

}  // namespace baton::job
