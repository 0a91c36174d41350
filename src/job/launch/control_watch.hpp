// What the launcher knows of the job through its control segment.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "comm/backends/shm/mail_socket.hpp"
#include "comm/hang_report.hpp"
#include "comm/shared_memory.hpp"
#include "job/job_snapshot.hpp"

namespace baton::job {

/// A mail slot on which the job's first rank sends the control segment. A program that never joins sends none; then
/// nothing is known, and nothing is written.
class ControlWatch {
 public:
  /// The ranks are descendants of this process; or the only one of this host is the process `rank`.
  explicit ControlWatch(std::uint32_t ranks, pid_t rank = 0);

  /// The value of BATON_LAUNCHER.
  [[nodiscard]] const std::string& address() const noexcept { return address_; }
  /// Readable when receive() has something to do.
  [[nodiscard]] int fd() const noexcept { return mail_.fd(); }
  void receive();

  /// What `rank` does, or did last; nothing if the job has not met.
  [[nodiscard]] std::optional<RankSnapshot> look(std::uint32_t rank) const;

  /// What all ranks do, as lines of a report; none if the job has not met.
  [[nodiscard]] std::vector<std::string> explain() const;
  /// The control segment; nothing if the job has not met.
  [[nodiscard]] std::optional<comm::ControlView> view() const;

  /// The process started for `rank` ended with the wait status `status`: tells the other ranks.
  void rank_ended(std::uint32_t rank, pid_t pid, int status);
  /// A process that a rank had started ended. It may have been the one that joined.
  void descendant_ended(pid_t pid, int status);

 private:
  [[nodiscard]] wire::ControlHeader* control() const;
  void mark(std::uint32_t rank, int status);

  std::uint32_t ranks_;
  pid_t rank_;
  std::string address_;
  shm::MailSocket mail_;
  // Kept open: `baton ps` finds the job through it.
  UniqueFd segment_;
  std::shared_ptr<comm::SharedMemory> memory_;
};

}  // namespace baton::job
