// A node: many chips, on this machine or on several, driven by one orchestration.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <baton/export.hpp>
#include <baton/node_domain.hpp>
#include <baton/place.hpp>
#include <baton/task_args.hpp>
#include <baton/tensor.hpp>

namespace baton {

namespace node {
class RunState;
class WorkerState;

/// Before main(): a process that a Worker started as a chip becomes it here and never returns. `anchor` is an object of
/// the program.
BATON_API bool become_chip_if_asked(const void* anchor);

/// Kernels that are linked into a program exist in its chips because they run the same program.
inline const bool kIsNoChip = become_chip_if_asked(&kIsNoChip);
}  // namespace node

/// Where chips run.
enum class Isolation : std::uint8_t {
  processes,  // each in a process of its own: a crash stays in its chip
  inproc,     // all in this process, as fibers of a few threads
};

struct WorkerOptions {
  /// 3: a node. 2: one chip in this process.
  int level = 3;
  /// The generation of the chips.
  std::string platform = "a2a3sim";
  /// One chip for each; parse_device_list() reads them as people write them. Chips are named by their index here.
  /// Empty: one chip, device 0; with hosts, as many as they take. With hosts each of them counts its devices from 0 on,
  /// and only how many are named here matters.
  std::vector<int> devices = {};
  /// The hosts of the chips, with how many of them: "a,b" or "a:4,b:8". Empty: BATON_HOSTS, else this one.
  std::string hosts = {};
  /// With hosts: what runs a command on {host}; empty: BATON_LAUNCH_AGENT, else ssh.
  std::string launch_agent = {};
  /// With hosts: the network on which they reach this one; empty: BATON_INTERFACE, else any.
  std::string interface = {};
  /// With hosts: the path of `baton` there; empty: BATON_REMOTE_BATON, else where it is here.
  std::string remote_baton = {};
  Isolation isolation = Isolation::processes;
  /// Threads that run submit_sub(); at least 1.
  int sub_workers = 1;
  /// As in ChipOptions.
  int clusters = 0;
  int chip_threads = 0;
  std::uint64_t chip_task_window = 0;
  std::uint64_t output_heap_bytes = 0;
  /// Also of host functions: they cannot be interrupted, so one that is late is given up and left to itself.
  std::optional<std::chrono::nanoseconds> kernel_timeout = std::nullopt;
  /// Tasks of the node in flight before a submission waits.
  std::size_t task_window = 16384;
  /// The program that chips run; empty: this program if it includes this header, else `baton-chip` beside libbaton.
  std::string chip_program = {};
};

/// The arguments of a host function: tensors are over memory of this process.
using SubFunction = std::function<void(const ChipArgs& args)>;

/// Used by the function that run() or submit() calls, on its thread, until it returns.
class BATON_API Orchestration {
 public:
  Orchestration(std::shared_ptr<node::WorkerState> worker, std::shared_ptr<node::RunState> run);
  Orchestration(const Orchestration&) = delete;
  Orchestration& operator=(const Orchestration&) = delete;
  ~Orchestration();

  [[nodiscard]] int chip_count() const noexcept;
  /// Of the chips, as WorkerOptions says.
  [[nodiscard]] const std::string& platform() const noexcept;

  /// Gives the chips `workers` zeroed windows of `window_bytes` and places `buffers` in them, each on a cache line of
  /// its own. Ranks of the domain follow the order of `workers`. 0 bytes: as many as the buffers need. Domains may
  /// overlap and exist side by side.
  [[nodiscard]] DomainHandle allocate_domain(std::string_view name, std::span<const int> workers,
                                             std::size_t window_bytes, std::span<const CommBufferSpec> buffers = {},
                                             Place where = Place::here());
  [[nodiscard]] DomainHandle allocate_domain(std::string_view name, std::initializer_list<int> workers,
                                             std::size_t window_bytes,
                                             std::initializer_list<CommBufferSpec> buffers = {},
                                             Place where = Place::here()) {
    return allocate_domain(name, std::span<const int>(workers.begin(), workers.size()), window_bytes,
                           std::span<const CommBufferSpec>(buffers.begin(), buffers.size()), where);
  }

  /// Runs `callable` on chip `worker`, after the tasks that its tensors make it wait for and after those that were
  /// submitted to the same chip before. Waits only while too many tasks are in flight.
  TaskId submit_next_level(const Callable& callable, const TaskArgs& args, int worker, const TaskConfig& config = {},
                           Place where = Place::here());
  /// Runs it on several chips, with args_list[i] on workers[i]. The members may wait for each other. Returns the task
  /// of the last member, which stands for all.
  TaskId submit_next_level_group(const Callable& callable, std::span<const TaskArgs> args_list,
                                 std::span<const int> workers, const TaskConfig& config = {},
                                 Place where = Place::here());
  /// Runs a function of this process on a thread of its own.
  TaskId submit_sub(SubFunction function, const TaskArgs& args, Place where = Place::here());

  /// A task that completes when `signal`, one int32 in the window that a chip has of a domain, is at least `expected`.
  /// A task that takes the token, as an input or in TaskConfig::tokens, waits for that. A kernel sees an input as one
  /// int32 that must not be read; a function of submit_sub() does not see it. No chip is kept from its tasks meanwhile.
  [[nodiscard]] Tensor submit_notification_wait(const Tensor& signal, std::int32_t expected,
                                                Place where = Place::here());

  /// Host memory that all chips reach, zeroed; it lives until the scope ends and nobody uses it any more.
  [[nodiscard]] Tensor alloc(DType dtype, Tensor::Extents shape, std::string_view name = "alloc");
  [[nodiscard]] Tensor alloc(DType dtype, std::initializer_list<std::int64_t> shape, std::string_view name = "alloc") {
    return alloc(dtype, Tensor::Extents(shape.begin(), shape.size()), name);
  }
  /// The same in the memory of one chip.
  [[nodiscard]] Tensor alloc_on(int worker, DType dtype, Tensor::Extents shape, std::string_view name = "alloc");
  [[nodiscard]] Tensor alloc_on(int worker, DType dtype, std::initializer_list<std::int64_t> shape,
                                std::string_view name = "alloc") {
    return alloc_on(worker, dtype, Tensor::Extents(shape.begin(), shape.size()), name);
  }

  /// Waits for the tasks that use the tensor (which write it), then copies. The tensor is contiguous and has `bytes`
  /// bytes; it may lie in host memory, in a chip's or in a window.
  void copy_to(const Tensor& to, const void* from, std::size_t bytes);
  void copy_from(void* to, const Tensor& from, std::size_t bytes);
  template <class T>
  void copy_to(const Tensor& to, std::span<const T> from) {
    copy_to(to, from.data(), from.size_bytes());
  }
  template <class T>
  void copy_from(std::span<T> to, const Tensor& from) {
    copy_from(to.data(), from, to.size_bytes());
  }

  /// Waits until the task is complete. Throws what made this run fail.
  void wait(TaskId task);
  /// Whether a submission would wait now, because as many tasks are in flight as WorkerOptions::task_window says.
  [[nodiscard]] bool full() const;

  /// What alloc() gives inside a scope lives until the object ends.
  class BATON_API Scope {
   public:
    explicit Scope(Orchestration& owner);
    Scope(Scope&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)), depth_(other.depth_) {}
    Scope& operator=(Scope&&) = delete;
    ~Scope();

   private:
    Orchestration* owner_;
    std::size_t depth_;
  };
  [[nodiscard]] Scope scope() { return Scope(*this); }

 private:
  void close_scopes(std::size_t depth) noexcept;

  std::shared_ptr<node::WorkerState> worker_;
  std::shared_ptr<node::RunState> run_;
  std::vector<std::vector<std::uint64_t>> scopes_;  // buffers by scope, outermost first
};

using OrchestrationFunction = std::function<void(Orchestration&)>;

/// A run that goes on by itself. Copies refer to the same one.
class BATON_API RunHandle {
 public:
  RunHandle() = default;
  explicit RunHandle(std::shared_ptr<node::RunState> run) noexcept;

  [[nodiscard]] bool done() const;
  /// Until the run has ended, well or not.
  void wait() const;
  /// False if it has not ended by then.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds timeout) const;
  /// Waits, and throws what the run threw.
  void result() const;
  /// What it threw; null while it runs, or if it ended well.
  [[nodiscard]] std::exception_ptr failure() const;

 private:
  std::shared_ptr<node::RunState> run_;
};

/// Any thread may use it.
class BATON_API Worker {
 public:
  /// Starts the chips. Throws Error: launch_failed, join_timeout, unsupported, invalid_argument.
  explicit Worker(const WorkerOptions& options = {});
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// close().
  ~Worker();

  /// Calls `orchestration` on this thread and waits for what it submitted. Throws the first cause of what went wrong:
  /// chip, task, kernel and place. If a chip died, the next run starts the chips again: buffers stay, domains are gone.
  void run(const OrchestrationFunction& orchestration, Place where = Place::here());
  /// Calls it on a thread of its own. Several runs share the chips; edges between their tasks are found, too.
  [[nodiscard]] RunHandle submit(OrchestrationFunction orchestration, Place where = Place::here());

  /// Host memory that all chips reach, zeroed, until free_buffer() or close(). It is mapped here at its address().
  [[nodiscard]] Tensor create_buffer(DType dtype, Tensor::Extents shape, std::string_view name = "buffer");
  [[nodiscard]] Tensor create_buffer(DType dtype, std::initializer_list<std::int64_t> shape,
                                     std::string_view name = "buffer") {
    return create_buffer(dtype, Tensor::Extents(shape.begin(), shape.size()), name);
  }
  /// Memory of one chip: tasks of others cannot use it. The death of another chip leaves its contents as they are; if
  /// this one dies, it holds whatever was written last.
  [[nodiscard]] Tensor create_buffer_on(int worker, DType dtype, Tensor::Extents shape,
                                        std::string_view name = "buffer");
  [[nodiscard]] Tensor create_buffer_on(int worker, DType dtype, std::initializer_list<std::int64_t> shape,
                                        std::string_view name = "buffer") {
    return create_buffer_on(worker, dtype, Tensor::Extents(shape.begin(), shape.size()), name);
  }
  /// Once no task uses it any more. Throws Error (released) if it was freed before.
  void free_buffer(const Tensor& tensor);

  /// As in Orchestration, outside of runs.
  void copy_to(const Tensor& to, const void* from, std::size_t bytes);
  void copy_from(void* to, const Tensor& from, std::size_t bytes);

  [[nodiscard]] int chip_count() const noexcept;
  [[nodiscard]] const WorkerOptions& options() const noexcept;
  /// Of the process of a chip; this process for chips that are part of it.
  [[nodiscard]] int pid_of(int worker) const;

  /// Starts the chips again, whether they died or not. Waits for runs first. Buffers stay, domains do not.
  void restart();

  /// Waits for runs and ends the chips. Every later use is an error.
  void close();

 private:
  std::shared_ptr<node::WorkerState> state_;
};

}  // namespace baton
