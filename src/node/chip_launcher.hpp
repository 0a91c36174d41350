// The process that starts the chips of a node on other hosts: `baton node`, as its node sees it.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <baton/error.hpp>

#include "base/deadline.hpp"
#include "base/unique_fd.hpp"
#include "job/node_messages.hpp"
#include "job/rank_messages.hpp"

namespace baton::node {

class ChipLauncher {
 public:
  /// Called on a thread of this object. `on_end` is called for each chip that was ordered, once, when it ended; the
  /// last number is the node's own.
  struct Listeners {
    std::function<void(const job::ChipStart&)> on_start;
    std::function<void(const job::ChipEnd&)> on_end;
  };
  /// Starts it. Throws Error (launch_failed).
  ChipLauncher(const job::NodeOrder& order, Listeners listeners);
  ~ChipLauncher();
  ChipLauncher(const ChipLauncher&) = delete;
  ChipLauncher& operator=(const ChipLauncher&) = delete;

  /// Where the node joins. Throws what kept the chips from starting.
  [[nodiscard]] job::Meeting await_meeting(const Deadline& deadline);
  /// Why a chip was not started, if that is known by then.
  [[nodiscard]] std::optional<Error> failure(const Deadline& deadline);

  /// Whether its process is stopped; false if its host does not tell by then.
  [[nodiscard]] bool is_stopped(int chip, const Deadline& deadline) noexcept;
  /// A signal for one chip.
  void signal(int chip, int number) noexcept;
  /// Ends all chips that are left, and waits until the launcher has ended: then nothing of them is on any host that
  /// answers.
  void end() noexcept;

 private:
  void listen();
  void take(job::FrameReader& frame);
  [[nodiscard]] bool send(const std::string& frame) noexcept;

  Listeners listeners_;
  std::size_t chips_;
  UniqueFd socket_;
  pid_t pid_ = -1;
  UniqueFd pidfd_;
  std::mutex sending_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::optional<job::Meeting> meeting_;
  std::optional<job::ProcessSight> sight_;  // the last that came
  std::optional<Error> failure_;
  bool gone_ = false;
  std::vector<bool> ended_;  // by chip; of the thread
  std::chrono::seconds end_patience_;
  std::thread thread_;
};

}  // namespace baton::node
