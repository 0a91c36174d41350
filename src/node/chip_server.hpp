// The chip's side of a node: runs the tasks of its mailbox in their order, and serves its control messages beside them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include <baton/chip.hpp>
#include <baton/domain.hpp>

#include "node/buffer_table.hpp"
#include "node/chip_callables.hpp"
#include "node/chip_mailbox.hpp"
#include "node/device_copies.hpp"
#include "node/message.hpp"
#include "node/signal_watches.hpp"

namespace baton::node {

class FarNode;

/// Everything but construction and destruction: run_tasks() on one thread or fiber, run_control() on another.
class ChipServer {
 public:
  /// `me`: the rank that this chip is. `scope`: whether the node is another process. `far`: the way to a node on
  /// another host; it lives longer.
  ChipServer(wire::NodeHeader& node, const Domain& me, BufferTable& buffers, FutexScope scope, FarNode* far = nullptr);

  /// Makes the chip, tells the node, works until it says stop. False, after a report, if the chip could not be made.
  /// `on_start` is called in both cases, before the work.
  bool run_tasks(const ChipOptions& options, const std::function<void(wire::ChipPhase)>& on_start);
  void run_control();

 private:
  struct Known {
    MappedBuffer buffer;
    Tensor whole;  // as the chip knows it; none where it has a copy
  };

  /// For the thread of the tasks, which has made it.
  [[nodiscard]] Chip& chip() const noexcept { return *chip_.load(std::memory_order_relaxed); }
  /// What rings may have been written to without anybody having taken it from the path to another host.
  void look() noexcept;
  void deal_with(MessageReader& message);
  void run_task(MessageReader& message);
  void execute(MessageReader& message, const struct TaskWire& task);
  void run(const ChipCallables::Entry& callable, const struct TaskWire& task);
  [[nodiscard]] Tensor read_tensor(MessageReader& message, const struct ArgWire& arg);
  [[nodiscard]] std::uint64_t address_of(const struct MemoryWire& memory);
  /// Where the chip has the buffer.
  [[nodiscard]] std::uint64_t buffer(std::uint64_t id);
  /// Before the chip ends.
  void let_go_of_domains();
  void forget_buffer(std::uint64_t id);
  void report(const Failure& failure, std::uint64_t record);

  void serve_control(MessageReader& message, MessageWriter& reply);
  static void follow_trace(MessageReader& message);
  void open_domain(MessageReader& message, MessageWriter& reply);
  void copy_window(MessageReader& message);
  void watch_signal(MessageReader& message);
  [[nodiscard]] OpenDomain open_domain_of(std::uint64_t id, const char* what);
  /// Tells the node which waits for notifications have ended.
  void tell_ended(StreamWriter& replies, MessageWriter& reply);

  Domain me_;
  BufferTable& buffers_;
  ParkingPlace place_;
  std::chrono::nanoseconds timeout_;
  ChipMailbox mailbox_;
  MailboxViews views_;
  StreamReader tasks_;
  StreamWriter reports_;
  /// Set by the thread of the tasks before the node hears of the chip. Release; pairs with the load in open_domain().
  std::atomic<Chip*> chip_{nullptr};
  std::optional<DeviceCopies> copies_;  // of a chip that does not reach memory of the host
  FarNode* far_;
  ChipCallables callables_;
  std::unordered_map<std::uint64_t, Known> known_;
  std::set<std::uint64_t> failed_runs_;
  std::uint64_t dealt_with_ = 0;  // records
  std::uint64_t node_ = 0;        // whose tasks it runs, for `baton check`
  bool stopped_ = false;
  MessageWriter report_;
  // Of the task that runs; kept for the next one.
  std::vector<Tensor> tensors_;
  std::vector<std::int64_t> scalars_;
  std::vector<Argument> arguments_;
  std::mutex mutex_;
  std::map<std::uint64_t, OpenDomain> domains_;  // guarded by mutex_
  SignalWatches watches_;
};

}  // namespace baton::node
