#include "platform/ascend/graph_run.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <baton/dtype.hpp>
#include <baton/signal.hpp>

#include "platform/ascend/runtime.hpp"

namespace baton::ascend {
namespace {

using Clock = std::chrono::steady_clock;

/// Events that one run uses at a time; when they are used up, the run waits for what it has launched.
constexpr std::size_t kMostEvents = 1024;
/// The chip ends an operation at its limit by itself; the host gives up later.
constexpr std::int32_t kGraceMs = 2000;
/// How often a run that waits for kernels asks for peers that are lost.
constexpr std::int32_t kPieceMs = 50;
/// How long a look at the streams may take.
constexpr std::int32_t kLookMs = 1;
/// Where it is not known which stream failed.
constexpr std::size_t kNoStream = kKinds;

std::size_t number(Kind kind) { return static_cast<std::size_t>(kind); }

}  // namespace

GraphRun::GraphRun(Npu& npu, std::span<const GraphTask> tasks, const BatonRunOptions& options,
                   std::uint32_t& failed_task)
    : npu_(npu),
      tasks_(tasks),
      options_(options),
      failed_task_(failed_task),
      order_(tasks),
      deferred_(npu, tasks, {options.extents, options.extent_count}),
      progress_(tasks, options),
      wait_limit_(static_cast<std::int64_t>(options.wait_limit_ns)),
      after_(tasks.size()) {
  unmarked_.fill(BATON_NO_TASK);
  const std::uint64_t limit_us = Runtime::limit_operations((options.run_limit_ns + 999) / 1000);
  constexpr std::int64_t kLongest = std::numeric_limits<std::int32_t>::max();
  sync_limit_ms_ = limit_us == 0 ? -1
                                 : static_cast<std::int32_t>(std::min<std::int64_t>(
                                       kLongest, static_cast<std::int64_t>(limit_us / 1000) + kGraceMs));
}

void GraphRun::all() {
  try {
    begin_all();
    drain();
  } catch (const Error& error) {
    settle(error);
    throw;
  }
}

void GraphRun::settle(const Error& error) {
  // The caller of the run may free memory that its kernels use.
  if (npu_.is_lost()) return;
  const Cann& cann = Cann::get();
  for (const Kind kind : {Kind::vector, Kind::cube}) {
    if (cann.aclrtSynchronizeStreamWithTimeout(npu_.stream(kind), sync_limit_ms_) != 0) {
      return npu_.recover(error);
    }
  }
}

void GraphRun::begin_all() {
  auto progress = Clock::now();
  for (;;) {
    while (const auto task = order_.next()) {
      begin(*task);
      progress = Clock::now();
    }
    if (counting_.empty() && deferred_.empty()) return;
    const bool any_goes_on = look_at_counters();
    if (look_at_deferred() || any_goes_on) continue;
    // All of them wait for counters or conditions, or for tasks that do.
    look_for_failures(kLookMs);
    check_waits(Clock::now() - progress);
  }
}

bool GraphRun::look_at_counters() {
  return std::erase_if(counting_, [&](std::uint32_t index) {
           if (!is_reached(tasks_[index])) return false;
           progress_.complete(index);
           order_.begun(index);
           return true;
         }) != 0;
}

bool GraphRun::look_at_deferred() {
  const auto outcome = deferred_.look([&](std::uint32_t task) { return has_returned(task); },
                                      [&](std::uint32_t task) {
                                        progress_.complete(task);
                                        order_.begun(task);
                                      },
                                      failed_task_);
  progress_.look(marks_, drained_);
  return outcome == Deferred::Outcome::progress;
}

bool GraphRun::has_returned(std::uint32_t index) const {
  const std::size_t stream = number(tasks_[index].kernel->kind);
  const std::uint64_t place = after_[index][stream];
  if (place <= drained_[stream]) return true;
  return has_happened(marks_[stream][place - drained_[stream] - 1]);
}

void GraphRun::begin(std::uint32_t index) {
  const GraphTask& task = tasks_[index];
  bool runs = task.kernel != nullptr;
  if (runs && (task.flags & BATON_TASK_PREDICATE) != 0) {
    drain();  // the element is what those before it wrote
    runs = holds(task);
  }
  for (const std::uint32_t earlier : task.before) {
    for (std::size_t stream = 0; stream < kKinds; ++stream) {
      after_[index][stream] = std::max(after_[index][stream], after_[earlier][stream]);
    }
  }
  if ((task.flags & BATON_TASK_COUNTER) != 0) return counting_.push_back(index);
  if (runs) launch(index);
  if (runs && task.may_defer()) return deferred_.add(index);
  if (!runs) progress_.complete(index);
  order_.begun(index);
}

void GraphRun::launch(std::uint32_t index) {
  const Cann& cann = Cann::get();
  const GraphTask& task = tasks_[index];
  if (events_ == kMostEvents) drain();
  const std::size_t stream = number(task.kernel->kind);
  const std::size_t other = 1 - stream;
  void* const on = npu_.stream(task.kernel->kind);
  failed_task_ = index;  // of what is thrown here
  if (after_[index][other] > std::max(known_[stream][other], drained_[other])) {
    const Mark& mark = marks_[other][after_[index][other] - drained_[other] - 1];
    check_queued("aclrtStreamWaitEvent", cann.aclrtStreamWaitEvent(on, mark.event));
    known_[stream][other] = after_[index][other];
  }
  void* const event = npu_.event(events_);
  LaunchConfig::Attribute together;
  LaunchConfig config{&together, 1};
  std::uint64_t argument = task.arguments;
  const bool starts_together = (task.flags & BATON_TASK_TOGETHER) != 0;
  // Of clusters no more may be launched at a time than there are.
  const std::uint32_t most = task.kernel->cores ? npu_.clusters() : task.blocks;
  for (std::uint32_t blocks = task.blocks; blocks > 0;) {
    const std::uint32_t some = std::min(blocks, most);
    check_queued(
        "aclrtLaunchKernelWithHostArgs",
        cann.aclrtLaunchKernelWithHostArgs(task.kernel->function, some, on, starts_together ? &config : nullptr,
                                           &argument, sizeof argument, nullptr, 0));
    unmarked_[stream] = index;
    argument += some * kCoresOfCluster * kBytesOfArguments;
    blocks -= some;
  }
  check_queued("aclrtRecordEvent", cann.aclrtRecordEvent(event, on));
  unmarked_[stream] = BATON_NO_TASK;
  failed_task_ = BATON_NO_TASK;
  ++events_;
  marks_[stream].push_back({index, event, after_[index]});
  progress_.dispatched(index);
  progress_.look(marks_, drained_);
  // What comes before it in its stream, or what the stream has waited for, is before it.
  after_[index] = {};
  after_[index][stream] = drained_[stream] + marks_[stream].size();
}

bool GraphRun::holds(const GraphTask& task) const {
  const std::size_t bytes = size_of(static_cast<DType>(task.dtype));
  std::uint64_t bits = 0;
  npu_.copy_out(&bits, task.address, bytes);
  const auto unused = static_cast<unsigned>(64 - 8 * bytes);
  return baton::holds(static_cast<std::int64_t>(bits << unused) >> unused, static_cast<WaitCmp>(task.comparison),
                      task.value);
}

bool GraphRun::is_reached(const GraphTask& task) const {
  std::int32_t counter = 0;
  npu_.copy_out(&counter, task.address, sizeof counter);
  return counter >= task.value;
}

void GraphRun::drain() {
  for (const Kind kind : {Kind::vector, Kind::cube}) wait(kind);
  progress_.look(marks_, drained_);
  for (std::size_t stream = 0; stream < kKinds; ++stream) {
    drained_[stream] += marks_[stream].size();
    marks_[stream].clear();
  }
  events_ = 0;
}

void GraphRun::watch() {
  const auto end = Clock::now() + std::chrono::milliseconds(kPieceMs);
  while (!progress_.has_all(marks_, drained_) && Clock::now() < end) progress_.look(marks_, drained_);
}

void GraphRun::wait(Kind kind) {
  const Cann& cann = Cann::get();
  if (marks_[number(kind)].empty()) return;
  // In pieces only where there is something to ask in between.
  const bool asks = options_.has_lost_peers != nullptr;
  std::int32_t piece_ms = asks && (sync_limit_ms_ < 0 || sync_limit_ms_ > kPieceMs) ? kPieceMs : sync_limit_ms_;
  if (progress_.is_wanted()) piece_ms = kLookMs;
  std::size_t seen = 0;
  auto progress = Clock::now();
  for (;;) {
    if (progress_.is_wanted()) watch();
    const Result result = cann.aclrtSynchronizeStreamWithTimeout(npu_.stream(kind), piece_ms);
    if (result == 0) return;
    if (result == kAborted) {
      // The failure is the other stream's, which stopped this one.
      const Error error = cann.error("aclrtSynchronizeStreamWithTimeout", result);
      look_for_failures(kGraceMs);
      fail(kNoStream, error);
    }
    if (result != kLate) fail(number(kind), cann.error("aclrtSynchronizeStreamWithTimeout", result));
    // The limit is that of one kernel: as long as some end, the rest gets its time.
    const std::size_t now = completed(0) + completed(1);
    if (now > seen) progress = Clock::now();
    seen = now;
    const auto waited = Clock::now() - progress;
    if (sync_limit_ms_ >= 0 && waited >= std::chrono::milliseconds(sync_limit_ms_)) fail_late();
    if (waited > std::chrono::milliseconds(kGraceMs) && has_lost_peers()) fail_orphaned();
  }
}

bool GraphRun::has_lost_peers() const {
  return options_.has_lost_peers != nullptr && options_.has_lost_peers(options_.context) != 0;
}

std::size_t GraphRun::completed(std::size_t stream) const {
  const auto first = std::ranges::find_if_not(marks_[stream], has_happened);
  return static_cast<std::size_t>(first - marks_[stream].begin());
}

std::uint32_t GraphRun::stands_at(std::size_t stream) const {
  const std::vector<Mark>& marks = marks_[stream];
  const std::size_t done = completed(stream);
  if (done == marks.size()) return unmarked_[stream];
  // A chip that does not answer any more leaves no doubt only where there is one kernel.
  std::int32_t status = 0;
  const bool answers = Cann::get().aclrtQueryEventStatus(marks[done].event, &status) == 0;
  const bool alone = marks.size() == 1 && unmarked_[stream] == BATON_NO_TASK;
  return answers || alone ? marks[done].task : BATON_NO_TASK;
}

void GraphRun::check_queued(const char* function, Result result) {
  if (result == 0) return;
  const Error error = Cann::get().error(function, result);
  // A kernel that was launched before may have failed, and what is told here is only that.
  look_for_failures(kGraceMs);
  if (result == kAborted) fail(kNoStream, error);
  throw Error(error);
}

void GraphRun::look_for_failures(std::int32_t limit_ms) {
  const Cann& cann = Cann::get();
  for (const Kind kind : {Kind::vector, Kind::cube}) {
    const Result result = cann.aclrtSynchronizeStreamWithTimeout(npu_.stream(kind), limit_ms);
    if (result == 0 || result == kLate || result == kAborted) continue;
    fail(number(kind), cann.error("aclrtSynchronizeStreamWithTimeout", result));
  }
}

void GraphRun::fail(std::size_t stream, const Error& error) {
  failed_task_ = stream < kKinds ? stands_at(stream) : BATON_NO_TASK;
  progress_.look(marks_, drained_);  // the last, before the events go
  npu_.recover(error);
  for (auto& marks : marks_) marks.clear();
  if (failed_task_ == BATON_NO_TASK) {
    throw Error(error.code(), error.message(), {"it is not known which task failed"});
  }
  throw Error(error.code(), fmt::format("kernel '{}': {}", tasks_[failed_task_].kernel->name, error.message()));
}

void GraphRun::fail_late() {
  lose(Code::kernel_timeout, fmt::format("does not end: {} after {} ms", describe(kLate), sync_limit_ms_));
}

void GraphRun::fail_orphaned() { lose(Code::peer_died, "does not end, and one that may have to notify it is gone"); }

void GraphRun::lose(Code code, const std::string& why) {
  // Of two streams that stand, one may wait for the other: tasks come after those that they wait for.
  failed_task_ = std::min(stands_at(0), stands_at(1));
  const std::string who =
      failed_task_ == BATON_NO_TASK ? "a kernel" : fmt::format("kernel '{}'", tasks_[failed_task_].kernel->name);
  const Error error(code, fmt::format("{} {}", who, why), {"this chip cannot be used any more"});
  npu_.lose(error);
  throw Error(error);
}

void GraphRun::check_waits(std::chrono::nanoseconds waited) {
  if (deferred_.are_running()) {
    if (sync_limit_ms_ >= 0 && waited > std::chrono::milliseconds(sync_limit_ms_)) fail_late();
    if (waited > std::chrono::milliseconds(kGraceMs) && has_lost_peers()) fail_orphaned();
    return;
  }
  if (waited > wait_limit_) {
    fail_wait(Code::wait_timeout, fmt::format("has waited {} s", std::chrono::duration<double>(wait_limit_).count()));
  }
  if (has_lost_peers()) {
    fail_wait(Code::peer_died, "waits, and one that may have to notify it is gone,");
  }
}

void GraphRun::fail_wait(Code code, const std::string& how) {
  Condition condition{};
  std::string who = "a task without a kernel";
  if (const auto unmet = deferred_.first_unmet()) {
    failed_task_ = unmet->task;
    condition = unmet->condition;
    who = fmt::format("kernel '{}' has returned, and its task", tasks_[unmet->task].kernel->name);
  } else if (!counting_.empty()) {
    failed_task_ = counting_.front();
    const GraphTask& task = tasks_[failed_task_];
    condition = {task.address, sizeof(std::int32_t), static_cast<std::uint64_t>(task.value)};
  } else {
    throw Error(Code::internal, "tasks wait, and none of them for a word of the chip");
  }
  const std::uint64_t value = value_of(npu_, condition);
  drain();
  throw Error(code,
              fmt::format("{} {} for a counter that has {} and needs {}{}", who, how, static_cast<std::int64_t>(value),
                          static_cast<std::int64_t>(condition.expected), name_of(condition.address)));
}

std::string GraphRun::name_of(std::uint64_t address) const {
  if (options_.name_address == nullptr) return {};
  constexpr std::size_t kLongestName = 256;
  std::array<char, kLongestName> name{};
  options_.name_address(options_.context, address, name.data(), name.size());
  return name[0] == '\0' ? "" : fmt::format(" ({})", name.data());
}

}  // namespace baton::ascend
