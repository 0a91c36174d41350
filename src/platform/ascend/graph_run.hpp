// One run of a graph: kernels launched from the host in the order of the graph, through a stream for each kind of core.
//
// Within a stream kernels follow each other. Behind each kernel an event is recorded: kernels of the other stream wait
// for it, and after a failure it tells how far the chip came.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include <baton/platform.h>

#include "platform/ascend/deferred.hpp"
#include "platform/ascend/graph.hpp"
#include "platform/ascend/launch_order.hpp"
#include "platform/ascend/progress.hpp"

namespace baton::ascend {

class GraphRun {
 public:
  /// `failed_task` receives the task that an error belongs to, where it is known.
  GraphRun(Npu& npu, std::span<const GraphTask> tasks, const BatonRunOptions& options, std::uint32_t& failed_task);

  void all();

 private:
  void begin_all();
  /// After an error: nothing is under way any more.
  void settle(const Error& error);
  /// Task `index`, whose predecessors have begun, is launched, or is complete.
  void begin(std::uint32_t index);
  /// Those that wait for a counter and have reached it go on; whether any did.
  [[nodiscard]] bool look_at_counters();
  /// The same for those that are complete under conditions.
  [[nodiscard]] bool look_at_deferred();
  [[nodiscard]] bool has_returned(std::uint32_t index) const;
  void launch(std::uint32_t index);
  [[nodiscard]] bool holds(const GraphTask& task) const;
  [[nodiscard]] bool is_reached(const GraphTask& task) const;

  /// Nothing of what was launched is under way any more.
  void drain();
  void wait(Kind kind);
  /// With a profile: looks at events for a while, or until all kernels have returned.
  void watch();
  /// Gives each stream this time to end, and throws what went wrong in them.
  void look_for_failures(std::int32_t limit_ms);
  /// How many of the marks of a stream have happened.
  [[nodiscard]] std::size_t completed(std::size_t stream) const;
  /// The first task of a stream that has not ended; BATON_NO_TASK where nothing tells.
  [[nodiscard]] std::uint32_t stands_at(std::size_t stream) const;
  /// Throws unless what was put into a stream was taken.
  void check_queued(const char* function, Result result);
  [[noreturn]] void fail(std::size_t stream, const Error& error);
  [[nodiscard]] bool has_lost_peers() const;
  [[noreturn]] void fail_late();
  /// A kernel may wait for a peer that is gone, and nothing but its time limit would end it.
  [[noreturn]] void fail_orphaned();
  /// Gives up a chip whose kernel does not end.
  [[noreturn]] void lose(Code code, const std::string& why);
  /// All wait for words of the chip: throws if that has taken too long, or if nobody is left who would change them.
  void check_waits(std::chrono::nanoseconds waited);
  /// `how`: what the wait has come to.
  [[noreturn]] void fail_wait(Code code, const std::string& how);
  [[nodiscard]] std::string name_of(std::uint64_t address) const;

  Npu& npu_;
  std::span<const GraphTask> tasks_;
  const BatonRunOptions& options_;
  std::uint32_t& failed_task_;
  LaunchOrder order_;
  Deferred deferred_;
  Progress progress_;
  std::chrono::nanoseconds wait_limit_;
  std::int32_t sync_limit_ms_;
  std::vector<std::uint32_t> counting_;           // tasks that wait for counters, and for nothing else
  std::vector<Moment> after_;                     // by task: what has to have happened for it to be complete
  Marks marks_;                                   // since the last drain
  std::array<std::uint32_t, kKinds> unmarked_{};  // by stream: the kernel that was launched, but has no event yet
  Moment drained_{};                              // kernels before those marks
  std::array<Moment, kKinds> known_{};            // by stream: what it waits for already
  std::size_t events_ = 0;                        // in use
};

}  // namespace baton::ascend
