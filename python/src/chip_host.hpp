// A chip and the thread it lives on.
//
// Chips are made, run and destroyed on one thread; Python objects end on any. And a run that Ctrl-C interrupts must go
// on to its end, because kernels use memory until then. So each chip has a thread of its own. The orchestration itself
// runs on the thread that called run(): while it does, the thread of the chip lends it the graph and waits.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>
#include <vector>

#include <baton/chip.hpp>
#include <baton/domain.hpp>
#include <baton/kernel_source.hpp>
#include <baton/own_process.hpp>

#include "array.hpp"
#include "interruptible.hpp"
#include "lent.hpp"

namespace baton::python {

/// Something for the thread of a chip to do.
struct ChipJob {
  std::function<void(Chip&)> body;
  std::exception_ptr error;
  Event done;
};

/// What the thread shares with those that post to it. The thread keeps it alive until it ends.
class ChipThread {
 public:
  static std::shared_ptr<ChipThread> start(std::optional<Domain> domain, ChipOptions options);

  /// Throws Error in a forked child, which does not have the thread.
  void check_process() const { process_.check("this chip"); }
  [[nodiscard]] std::shared_ptr<ChipJob> post(std::function<void(Chip&)> body);
  /// The thread destroys the chip and ends, after what it does now. Waits for that unless the thread was abandoned.
  void quit();
  /// A job goes on that nobody waits for.
  void abandon() noexcept {
    abandoned_ = true;
    note_abandoned();
  }
  /// For calls from other threads while the thread has nothing to do.
  [[nodiscard]] Chip& chip() noexcept { return *chip_; }

 private:
  void live(std::optional<Domain> domain, const ChipOptions& options);

  OwnProcess process_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<ChipJob>> jobs_;  // guarded by mutex_
  bool quit_ = false;                          // guarded by mutex_
  std::unique_ptr<Chip> chip_;
  std::thread thread_;
  bool abandoned_ = false;
};

/// Held by what needs the chip or its memory. With the last of them, the thread ends.
struct ChipTicket {
  explicit ChipTicket(std::shared_ptr<ChipThread> given) noexcept : thread(std::move(given)) {}
  ChipTicket(const ChipTicket&) = delete;
  ChipTicket& operator=(const ChipTicket&) = delete;
  ~ChipTicket() { thread->quit(); }
  std::shared_ptr<ChipThread> thread;
};

using LentGraph = Lent<Graph>;

/// All calls with the GIL.
class ChipHost : public std::enable_shared_from_this<ChipHost> {
 public:
  ChipHost(std::optional<Domain> domain, ChipOptions options);
  ChipHost(const ChipHost&) = delete;
  ChipHost& operator=(const ChipHost&) = delete;
  ~ChipHost();

  /// The chip, for a call while no kernels run or from inside the orchestration. Waits for an interrupted run.
  [[nodiscard]] Chip& chip();
  /// The chip cannot be used any more. Its memory lives on while tensors refer to it.
  void close();

  [[nodiscard]] Array alloc(DType dtype, const std::vector<std::int64_t>& shape, const std::string& name);
  void free(const Array& array);
  /// Lets kernels use the memory until remove() or the end of the chip.
  void add(const Array& array, const std::string& name);
  void remove(const Array& array);
  /// For the present run: the memory stays alive, and kernels may use it.
  void use(const Array& array);
  /// For the present run: the kernel stays loaded.
  void use(const LoadedKernel& kernel) { held_.kernels.insert(kernel.keep()); }

  /// For the present run: whatever it is stays alive.
  void hold(std::shared_ptr<const void> object) { held_.kernels.insert(std::move(object)); }

  using Body = std::function<void(Chip&, LentGraph&)>;
  using Orchestration = std::function<void(Graph&, LentGraph&)>;
  /// Runs `body`, which lends a graph, on the thread of the chip, and `orchestration` here.
  void run(Body body, const Orchestration& orchestration);
  /// The same; memory that is used stays known to the chip and is returned, to be held as long as the graph.
  struct Held {
    std::unordered_set<std::shared_ptr<Memory>> memory;
    std::unordered_set<std::shared_ptr<const void>> kernels;
  };
  [[nodiscard]] Held capture(Body body, const Orchestration& orchestration);
  /// For one run of a captured graph: `arrays` are used by it.
  void run_captured(const std::vector<Array>& arrays, std::function<void(Chip&)> body);
  [[nodiscard]] const std::shared_ptr<ChipTicket>& ticket() const noexcept { return ticket_; }
  /// The room for outputs of the runtime.
  [[nodiscard]] std::uint64_t output_heap_bytes() const noexcept { return output_heap_bytes_; }
  /// Runs `body` on the thread of the chip.
  void run_there(std::function<void(Chip&)> body);

 private:
  friend class ChipMemory;
  struct Known {
    std::uint64_t end;
    std::shared_ptr<Memory> memory;
    bool for_one_run;
  };
  void wait_for_interrupted();
  void begin_run();
  void end_run();
  [[nodiscard]] const Known* known(const Buffer& buffer) const;
  /// Whether it lies in memory that the chip gave: somebody lends it back, by DLPack.
  [[nodiscard]] bool is_own(const Buffer& buffer) const;
  void free_there(Chip& chip, const Buffer& buffer);

  [[nodiscard]] ChipThread& thread() const;

  std::uint64_t output_heap_bytes_;
  std::shared_ptr<ChipTicket> ticket_;
  std::shared_ptr<ChipJob> interrupted_;
  std::thread::id runner_{};  // of the orchestration that runs now
  std::map<std::uint64_t, Known> known_;
  std::map<std::uint64_t, std::uint64_t> allocated_;  // begin and end
  Held held_;
  bool capturing_ = false;
  std::vector<Buffer> unused_;  // memory of the chip that nobody refers to any more
};

}  // namespace baton::python
