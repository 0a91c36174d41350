// What is behind a Worker: tasks of the node, their edges, and the way of each to its chip and back.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <baton/own_process.hpp>
#include <baton/worker.hpp>

#include "base/checked_order.hpp"
#include "base/function_ref.hpp"
#include "base/parking.hpp"
#include "base/trace_followers.hpp"
#include "chip/graph/tensor_map.hpp"
#include "node/chip_mailbox.hpp"
#include "node/chips.hpp"
#include "node/message.hpp"
#include "node/noted_edges.hpp"
#include "node/sub_workers.hpp"
#include "node/task_message.hpp"
#include "node/unit.hpp"
#include "node/window_layout.hpp"

namespace baton::node {

/// A domain, from its allocation on. The handle and the worker share it.
struct DomainRecord {
  std::uint64_t id = 0;
  std::uint64_t generation = 0;
  std::string name;
  std::uint64_t bytes = 0;
  std::vector<int> chips;              // by rank
  std::vector<std::uint64_t> windows;  // where tensors have them, by rank; addresses of no process
  std::vector<DomainMember> members;   // by rank
  std::atomic<bool> released{false};
};

/// Memory that tensors of the node lie in.
struct BufferRecord {
  SharedBuffer shared;
  int home = -1;  // the only chip that may use it; -1: all
  graph::AllocationId allocation = 0;
  std::vector<bool> given;  // by chip
};

/// What the node knows of one chip.
struct ChipLink {
  std::deque<graph::TaskId> queue;   // not sent, in the order of submission
  std::deque<graph::TaskId> flying;  // sent and not complete; 0: work without a task
  StreamWriter tasks;
  std::vector<std::byte> backlog;  // what the ring had no room for
  std::atomic<bool> backlogged{false};
  StreamReader reports;
  std::map<std::uint64_t, Failure> failures;  // by record
  StreamWriter control;
  StreamReader replies;
  /// A reply that came and was not taken yet: it hides what comes behind it.
  std::optional<std::span<const std::byte>> reply;
  std::atomic<bool> has_reply{false};  // of `reply`, for news()
  /// Nobody waits for the replies to requests up to this number any more.
  std::uint64_t given_up = 0;
  std::atomic<std::uint32_t> watched{0};  // waits for notifications that its chip has not told the end of
  std::span<std::byte> staging;
  wire::ChipMailbox* box = nullptr;
  RingView task_ring;
  RingView report_ring;
  RingView reply_ring;
  std::uint64_t seen = 0;
  std::vector<bool> defined;    // callables, by number
  std::string death;            // empty while it lives
  bool found_stopped = false;   // when the node last waited for long
  std::string ended_for;        // why the node ended it; empty if it did not
  bool ended_with_run = false;  // because of a run that had failed

  /// Whether a request has not been answered in time. What it works on is not known then.
  [[nodiscard]] bool silent() const noexcept { return given_up != 0; }
};

class WorkerState : public std::enable_shared_from_this<WorkerState> {
 public:
  explicit WorkerState(WorkerOptions options);
  ~WorkerState();

  [[nodiscard]] const WorkerOptions& options() const noexcept { return options_; }
  [[nodiscard]] int chip_count() const noexcept { return static_cast<int>(options_.devices.size()); }
  [[nodiscard]] int pid_of(int chip);
  /// Where it was made. In a forked child nothing of it may be used: not even its locks, which threads may have held
  /// that the child does not have.
  [[nodiscard]] const OwnProcess& process() const noexcept { return process_; }

  // Life.
  /// Between the two, the chips are not started again. Every use of them lies inside.
  void begin_use();
  void end_use() noexcept;
  void close();
  void restart();
  void run(const OrchestrationFunction& orchestration, const Place& where);
  [[nodiscard]] std::shared_ptr<RunState> start_run(OrchestrationFunction orchestration, const Place& where);

  // Memory.
  [[nodiscard]] Tensor create_buffer(int home, DType dtype, Tensor::Extents shape, std::string_view name);
  void free_buffer(std::uint64_t id);
  /// Once the tasks that were submitted until now are complete.
  void free_later(const std::vector<std::uint64_t>& ids) noexcept;
  [[nodiscard]] std::uint64_t buffer_id(const Tensor& tensor);
  void copy_to(const Tensor& to, const void* from, std::size_t bytes);
  void copy_from(void* to, const Tensor& from, std::size_t bytes);

  // Domains.
  [[nodiscard]] std::shared_ptr<DomainRecord> allocate_domain(std::string_view name, std::span<const int> chips,
                                                              std::size_t window_bytes,
                                                              std::span<const CommBufferSpec> buffers);
  void release_domain(DomainRecord& domain) noexcept;
  [[nodiscard]] bool usable(const DomainRecord& domain);

  // Tasks.
  graph::TaskId submit(RunState& run, const Callable& callable, const TaskArgs& args, int chip,
                       const TaskConfig& config, const Place& where);
  graph::TaskId submit_group(RunState& run, const Callable& callable, std::span<const TaskArgs> args_list,
                             std::span<const int> chips, const TaskConfig& config, const Place& where);
  graph::TaskId submit_sub(RunState& run, SubFunction function, const TaskArgs& args, const Place& where);
  [[nodiscard]] Tensor submit_notification_wait(RunState& run, const Tensor& signal, std::int32_t expected,
                                                const Place& where);
  void wait(RunState& run, graph::TaskId task);
  [[nodiscard]] bool full();

 private:
  using Lock = std::unique_lock<std::mutex>;

  // worker_state.cpp: life.
  void start_chips();
  void stop_chips() noexcept;
  void forget_units();
  void serve();
  void ready_for_use(Lock& lock);
  /// Throws in a function of a run, for which `what` would wait.
  void check_outside(const char* what) const;
  void execute(const std::shared_ptr<RunState>& run, const OrchestrationFunction& orchestration) noexcept;
  void note_run(const RunState& run, std::uint64_t began, EventOutcome outcome) const;
  void finish_tasks(RunState& run, Lock& lock);
  void abort();
  void chip_died(std::size_t chip, const std::string& how);
  void reap_threads();

  // submission.cpp: from submissions to units with edges.
  void check_chip(const char* what, int chip) const;
  void check_run(const RunState& run, int chip);
  void await_room(Lock& lock);
  Unit& add_unit(RunState* run, int chip, std::uint32_t callable, const Place& where);
  void record(Unit& made, const TaskArgs& args, std::span<const Tensor> tokens);
  void depend(Unit& made, graph::TaskId earlier);
  void depend_on_one(Unit& made, graph::TaskId earlier);
  [[nodiscard]] std::uint32_t number_of(const Callable& callable);
  void define(int chip, std::uint32_t number);
  /// The libraries of a callable that this chip may lack.
  [[nodiscard]] std::vector<OfferedLibrary> offers_for(int chip, const Callable& callable);
  void encode(const TaskArgs& args, std::uint32_t callable, int chip, const TaskConfig& config, const RunState& run,
              graph::TaskId task);
  void enqueue(Unit& made, std::span<const std::byte> message);
  [[nodiscard]] bool live(graph::TaskId id) const noexcept {
    return id >= first_ && id - first_ < units_.size() && units_[id - first_].phase != Unit::Phase::done;
  }
  /// Whether a task that comes after it must wait: it is live, or it has hidden a member of its group that is.
  [[nodiscard]] bool matters(graph::TaskId id) const noexcept;
  [[nodiscard]] Unit& unit(graph::TaskId id) noexcept { return units_[id - first_]; }

  // progress.cpp: to the chips and back.
  void send(int chip, graph::TaskId id, std::span<const std::byte> message);
  void write_out(int chip, std::span<const std::byte> message);
  void pump(int chip);
  bool progress();
  bool take_reports(ChipLink& from);
  /// Up to the reply of a control call, if one has come.
  bool take_replies(ChipLink& from);
  void complete(graph::TaskId id, const Failure* failure);
  void finish(Unit& done);
  void cancel(RunState& run);
  void fail_run(RunState& run, Failure failure);
  void forget_complete();
  void tell_waiters() noexcept;
  /// Whether progress() or one of the waiters has something to do. Any thread, without the lock.
  enum class Replies : std::uint8_t { count, ignore };
  [[nodiscard]] bool news(std::uint64_t epoch, Replies replies) const noexcept;
  void settle();
  /// Makes progress until `holds`, which is asked with the lock held. False at the deadline.
  bool wait_locked(Lock& lock, const Deadline& deadline, Replies replies, FunctionRef<bool()> holds);
  [[nodiscard]] std::string describe(const Unit& unit) const;
  /// Logs what is at work: nothing was completed for long.
  void report_stall() const;
  /// Ends chips at work whose processes were stopped the last time, too: they would be waited for for ever.
  void end_stopped_chips();
  void sub_ended(graph::TaskId id, const std::exception_ptr& failure);

  // memory.cpp
  [[nodiscard]] MemoryWire resolve(const Tensor& tensor, int chip);
  [[nodiscard]] BufferRecord& buffer_of(const Tensor& tensor);
  [[nodiscard]] std::shared_ptr<DomainRecord> domain_of(const Tensor& tensor, std::size_t& rank);
  void drop_buffer(std::uint64_t id);
  void drop_unused();
  void await_users(Lock& lock, const Tensor& tensor, graph::Use access);
  void check_copy(const Tensor& tensor, std::size_t bytes) const;
  /// For `baton check`. Guarded by the mutex.
  void note_copy(const Tensor& tensor, std::size_t bytes, CheckedUse use, const char* operation);
  void copy_window(const Tensor& tensor, std::byte* to, const std::byte* from, std::size_t bytes);

  // node_domains.cpp
  void check_members(std::string_view domain, std::span<const int> chips) const;
  [[nodiscard]] std::shared_ptr<DomainRecord> new_domain(std::string_view name, std::span<const int> chips,
                                                         std::uint64_t bytes);
  void ask_for_windows(const DomainRecord& domain, const WindowLayout& layout, std::span<const CommBufferSpec> buffers);
  [[nodiscard]] std::exception_ptr await_windows(DomainRecord& domain, Lock& lock);
  /// The control message of the next request.
  void begin_request(MessageKind kind);
  void send_control(int chip, std::span<const std::byte> message);
  /// To the latest requests, in their order.
  [[nodiscard]] MessageReader await_reply(int chip, Lock& lock);
  /// Throws if a request to this chip would not be answered.
  void check_answers(int chip);
  [[noreturn]] void fail_silent(int chip);
  /// "chip 2 (pid 4711)".
  [[nodiscard]] std::string name_of(int chip) const;
  [[nodiscard]] ChipLink& link(int chip) { return links_[static_cast<std::size_t>(chip)]; }
  void release_reply(int chip) noexcept;

  // trace_following.cpp
  void follow_trace(const events::TraceChange& change) noexcept;
  void await_trace(int chip, const events::TraceChange& change, Lock& lock);

  // notification_waits.cpp
  void wait_ended(ChipLink& from, MessageReader& told);
  void give_up_waits(RunState& run);
  void wait_for_watchers(Unit& release);

  const WorkerOptions options_;
  const OwnProcess process_;
  std::chrono::nanoseconds timeout_;
  /// One control call at a time; before mutex_.
  std::mutex control_mutex_;
  MessageWriter control_message_;   // guarded by control_mutex_
  std::uint64_t last_request_ = 0;  // guarded by control_mutex_

  mutable std::mutex mutex_;
  // Guarded by mutex_, all of the following.
  std::unique_ptr<Chips> chips_;
  std::deque<ChipLink> links_;
  std::thread service_;
  bool needs_restart_ = false;
  bool closed_ = false;
  std::uint64_t generation_ = 0;
  std::size_t active_ = 0;        // runs and calls that use the chips
  std::condition_variable idle_;  // active_ has changed
  std::size_t attended_ = 0;      // threads that wait and make progress
  graph::TensorMap map_;
  std::deque<Unit> units_;
  graph::TaskId first_ = 1;  // of units_
  CheckedTasks checked_ = CheckedTasks::of_this_process();
  NotedEdges edges_;
  std::uint64_t copies_ = 0;  // to and from windows of chips, for `baton check`
  std::size_t blocked_ = 0;   // units that wait for others, or for room
  MessageWriter message_;
  struct Numbered {
    Callable callable;
    std::string name;
  };
  std::deque<Numbered> callables_;
  std::unordered_map<const void*, std::uint32_t> linked_;
  std::map<std::string, std::uint32_t> in_libraries_;
  std::uint64_t last_buffer_ = 0;
  std::map<std::uint64_t, BufferRecord> buffers_;
  std::map<std::uint64_t, std::uint64_t> by_address_;            // start -> buffer
  std::vector<std::pair<graph::TaskId, std::uint64_t>> unused_;  // buffers to free after a task
  std::uint64_t last_domain_ = 0;
  std::uint64_t next_window_ = 1U << 20U;  // addresses of windows, in a space of their own
  std::map<std::uint64_t, std::shared_ptr<DomainRecord>> domains_;
  struct Background {
    std::thread thread;
    std::shared_ptr<RunState> run;
  };
  std::vector<Background> background_;

  /// Grows with everything that a waiter may wait for and that chips do not tell themselves.
  std::atomic<std::uint64_t> epoch_{0};
  std::atomic<std::uint64_t> last_run_{0};
  std::atomic<bool> stop_service_{false};
  std::unique_ptr<SubWorkers> sub_workers_;
  /// Of chips that are processes. Ends before all of the above.
  std::optional<events::TraceFollower> trace_follower_;
};

}  // namespace baton::node
