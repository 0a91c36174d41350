// The chips of a node, from its side: how they are started, reached and ended. One object for each time they are
// started.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <baton/chip.hpp>
#include <baton/worker.hpp>

#include "base/deadline.hpp"
#include "base/futex.hpp"
#include "base/parking.hpp"
#include "comm/memfd.hpp"
#include "job/host_list.hpp"
#include "node/library_offer.hpp"
#include "wire/control.hpp"
#include "wire/node_mailbox.hpp"

namespace baton::node {

/// Memory of the node that chips may use.
struct SharedBuffer {
  std::uint64_t id = 0;
  std::uint64_t bytes = 0;
  std::string name;
  UniqueFd fd;
  std::shared_ptr<comm::SharedMemory> memory;
};

/// Called on another thread when a chip ended that nobody asked to: "SIGKILL", "exit code 3".
using DeathListener = std::function<void(std::size_t chip, const std::string& how)>;

class Chips {
 public:
  Chips() = default;
  Chips(const Chips&) = delete;
  Chips& operator=(const Chips&) = delete;
  /// Ends what is left, by force.
  virtual ~Chips() = default;

  [[nodiscard]] virtual wire::NodeHeader& header() noexcept = 0;
  [[nodiscard]] virtual FutexScope scope() const noexcept = 0;
  [[nodiscard]] virtual pid_t pid(std::size_t chip) const noexcept = 0;
  /// "pid 4711", and where if that is another host.
  [[nodiscard]] virtual std::string process(std::size_t chip) const;
  /// The name of its host; empty for this one.
  [[nodiscard]] virtual std::string host(std::size_t /*chip*/) const { return {}; }
  /// Whether its process is known to be stopped, by SIGSTOP and its like.
  [[nodiscard]] virtual bool is_stopped(std::size_t chip) noexcept;

  /// Makes a buffer known to a chip before the tasks that use it are sent.
  virtual void give(std::size_t chip, const SharedBuffer& buffer) = 0;
  /// No chip uses it any more, and none will.
  virtual void forget(std::uint64_t /*buffer*/) noexcept {}
  /// For a chip that may not have it: a library of this host.
  [[nodiscard]] virtual std::optional<LibraryOffer> offer(std::size_t /*chip*/, const std::string& /*library*/) {
    return std::nullopt;
  }

  /// Before a chip is asked to read these bytes of its staging memory.
  virtual void share_staging(std::size_t /*chip*/, std::uint64_t /*offset*/, std::uint64_t /*bytes*/) {}

  /// After all were told to stop: waits until they have ended; those that have not by `deadline` are killed. No death
  /// is told afterwards.
  virtual void end(const Deadline& deadline) noexcept = 0;
  /// Ends a chip by force, if that is possible.
  virtual void kill(std::size_t chip) noexcept = 0;

  /// After a change of something that a chip may wait for: something was written to its mailbox or read from it.
  virtual void ring(std::size_t chip) noexcept = 0;
  /// Whether it must be told of everything that is written, although it has not read what was written before.
  [[nodiscard]] virtual bool is_far(std::size_t /*chip*/) const noexcept { return false; }
  /// For a thread that waits for chips: deals with what came from other hosts. Never blocks; without locks.
  virtual void progress() noexcept {}
  /// While such a thread sleeps.
  [[nodiscard]] virtual Lookout* lookout() noexcept { return nullptr; }
  /// Ends the waits of chips for each other, as if all had died.
  virtual void end_waits() noexcept = 0;
};

/// Each in a process of its own. Throws Error: launch_failed, join_timeout, or why a chip could not start.
[[nodiscard]] std::unique_ptr<Chips> start_process_chips(const WorkerOptions& options, DeathListener on_death);
/// On the hosts that `options` names; throws also what a host says why it could not start them.
[[nodiscard]] std::unique_ptr<Chips> start_hosts_chips(const WorkerOptions& options, DeathListener on_death);
/// All in this process.
[[nodiscard]] std::unique_ptr<Chips> start_inproc_chips(const WorkerOptions& options);

/// The chips of each host, in the order of their numbers; none if the options name no host. Throws Error
/// (invalid_argument) if the hosts do not take them.
[[nodiscard]] std::vector<job::HostShare> shares_of(const WorkerOptions& options);

/// What chip `chip` of a node is made of.
[[nodiscard]] ChipOptions chip_options(const WorkerOptions& options, std::size_t chip);

/// The segment of `chips` chips, ready for use. `memory` is zeroed.
[[nodiscard]] wire::MailboxSizes mailbox_sizes() noexcept;
void write_node_header(void* memory, std::uint32_t chips) noexcept;

/// Whether this program becomes a chip when it is started as one.
[[nodiscard]] bool program_can_be_chip() noexcept;

}  // namespace baton::node
