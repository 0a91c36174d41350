#include "chip/sched/profiler.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <span>

#include "base/fail.hpp"
#include "base/log.hpp"

namespace baton::chip {
namespace {

static_assert(static_cast<int>(TaskOutcome::done) == static_cast<int>(EventOutcome::done) &&
              static_cast<int>(TaskOutcome::deferred) == static_cast<int>(EventOutcome::deferred) &&
              static_cast<int>(TaskOutcome::failed) == static_cast<int>(EventOutcome::failed) &&
              static_cast<int>(TaskOutcome::not_run) == static_cast<int>(EventOutcome::not_run));

/// Records that go to the file at a time.
constexpr std::size_t kRecordsPerWrite = 4096;

}  // namespace

Profiler::Profiler(ProfileMode mode, std::optional<std::string> file, std::uint32_t rank)
    : mode_(mode), rank_(rank), path_(std::move(file)) {
  if (!path_) return;
  file_ = UniqueFd(::open(path_->c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file_.get() < 0) fail_system(fmt::format("opening {} for the records of tasks", *path_));
}

Profiler::~Profiler() {
  if (!path_) return;
  for (const auto& thread : threads_) write(thread->records);
  write_names();
}

ThreadProfile& Profiler::add_thread() {
  const std::lock_guard lock(mutex_);
  threads_.push_back(std::make_unique<ThreadProfile>());
  return *threads_.back();
}

std::uint32_t Profiler::number_of(ThreadProfile& thread, const char* name) {
  if (name == thread.last_name) return thread.last_number;
  thread.last_name = name;
  const auto known = thread.numbers.find(name);
  if (known != thread.numbers.end()) return thread.last_number = known->second;
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(names_, name);
  const auto number = static_cast<std::uint32_t>(found - names_.begin());
  if (found == names_.end()) names_.emplace_back(name);
  thread.numbers.emplace(name, number);
  if (thread.kernels.size() <= number) thread.kernels.resize(number + 1);
  return thread.last_number = number;
}

void Profiler::end_run() noexcept {
  const std::uint64_t now = ticks();
  elapsed_ += now - run_began_;
  if (events::tracing())
    events::record({.begin = run_began_, .end = now, .kind = EventKind::run, .rank = rank_, .a = high_water.tasks});
}

void Profiler::add_block(const NamedTask& task, std::uint32_t block, int core, std::uint64_t started,
                         std::uint64_t returned) const noexcept {
  events::record({.begin = started,
                  .end = returned,
                  .kind = EventKind::kernel,
                  .lane = core_lane(core),
                  .rank = rank_,
                  .object = events::text_of(task.kernel),
                  .place = events::text_of(task.where),
                  .a = task.event_number(),
                  .b = block});
}

void Profiler::trace(const NamedTask& task, const TaskTimes& times, const RunTimes& run, TaskOutcome outcome,
                     std::uint64_t completed) const noexcept {
  const bool ran = run.started != 0 && run.returned >= run.started;
  events::record({.begin = ran ? run.started : completed,
                  .end = ran ? run.returned : completed,
                  .kind = EventKind::task,
                  .outcome = static_cast<EventOutcome>(outcome),
                  .lane = ran && run.core >= 0 && !task.in_blocks ? core_lane(run.core) : kProgramLane,
                  .rank = rank_,
                  .object = events::text_of(task.kernel),
                  .place = events::text_of(task.where),
                  .a = task.event_number(),
                  .b = times.submitted,
                  .c = times.ready,
                  .d = completed});
}

void Profiler::add(ThreadProfile& thread, const NamedTask& task, const TaskTimes& times, const RunTimes& run,
                   TaskOutcome outcome, std::uint64_t completed) {
  if (events::tracing()) trace(task, times, run, outcome, completed);
  const std::uint32_t number = number_of(thread, task.kernel);
  ThreadProfile::Kernel& kernel = thread.kernels[number];
  ++kernel.count;
  if (outcome == TaskOutcome::deferred) ++kernel.deferred;
  if (outcome == TaskOutcome::failed) ++kernel.failed;
  if (outcome == TaskOutcome::not_run) ++kernel.not_run;
  if (run.started != 0 && run.returned >= run.started) {
    const std::uint64_t took = run.returned - run.started;
    kernel.total += took;
    kernel.max = std::max(kernel.max, took);
  }
  if (run.dispatched > times.ready) kernel.waiting += run.dispatched - times.ready;
  if (mode_ != ProfileMode::records) return;
  const auto signed_of = [](std::uint64_t at) { return static_cast<std::int64_t>(at); };
  thread.records.push_back({task.id, signed_of(times.submitted), signed_of(times.ready), signed_of(run.dispatched),
                            signed_of(run.started), signed_of(run.returned), signed_of(completed), number, run.core,
                            outcome, 0});
  if (path_ && thread.records.size() == kRecordsPerWrite) write(thread.records);
}

TaskRecord Profiler::to_nanoseconds(const TaskRecord& record) const {
  TaskRecord result = record;
  for (std::int64_t* time :
       {&result.submitted, &result.ready, &result.dispatched, &result.started, &result.returned, &result.completed}) {
    if (*time != 0) *time = scale_.nanoseconds(static_cast<std::uint64_t>(*time));
  }
  return result;
}

void Profiler::write(std::vector<TaskRecord>& records) {
  const std::lock_guard lock(mutex_);
  scale_.calibrate();
  for (TaskRecord& record : records) record = to_nanoseconds(record);
  const auto bytes = std::as_bytes(std::span(records));
  for (std::size_t written = 0; file_.get() >= 0 && written < bytes.size();) {
    const ssize_t more = ::write(file_.get(), bytes.data() + written, bytes.size() - written);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) {
      // Kernels need not fail because a disk is full.
      log::warn("records of tasks cannot be written to {}: {}; no more follow", *path_, std::strerror(errno));
      file_ = UniqueFd();
      break;
    }
    written += static_cast<std::size_t>(more);
  }
  records.clear();
}

void Profiler::write_names() const {
  std::ofstream names(*path_ + ".kernels");
  for (const std::string& name : names_) names << name << '\n';
  if (!names.flush()) log::warn("the names of kernels cannot be written to {}.kernels", *path_);
}

TaskProfile Profiler::read() {
  const std::lock_guard lock(mutex_);
  scale_.calibrate();
  const auto ns = [&](std::uint64_t span) { return scale_.nanoseconds(span) - scale_.nanoseconds(0); };
  TaskProfile profile;
  profile.elapsed_ns = ns(elapsed_);
  profile.high_water = high_water;
  profile.high_water.deferred = most_deferred_.load(std::memory_order_relaxed);
  profile.names = names_;
  for (std::size_t number = 0; number < names_.size(); ++number) {
    KernelProfile kernel{.kernel = names_[number]};
    for (const auto& thread : threads_) {
      if (thread->kernels.size() <= number) continue;
      const ThreadProfile::Kernel& part = thread->kernels[number];
      kernel.count += part.count;
      kernel.deferred += part.deferred;
      kernel.failed += part.failed;
      kernel.not_run += part.not_run;
      kernel.total_ns += ns(part.total);
      kernel.max_ns = std::max(kernel.max_ns, ns(part.max));
      kernel.waiting_ns += ns(part.waiting);
    }
    profile.kernels.push_back(std::move(kernel));
  }
  std::ranges::stable_sort(profile.kernels, std::greater(), &KernelProfile::total_ns);
  if (path_) return profile;
  for (const auto& thread : threads_) {
    for (const TaskRecord& record : thread->records) profile.records.push_back(to_nanoseconds(record));
  }
  return profile;
}

}  // namespace baton::chip
