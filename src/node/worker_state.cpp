// The life of a node: its chips are started, fail, are started again, and end.
#include "node/worker_state.hpp"

#include <algorithm>
#include <set>

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/recorder.hpp"
#include "base/service_thread.hpp"
#include "node/inside_run.hpp"
#include "node/worker_options.hpp"

namespace baton::node {
namespace {

/// After a failure: how long the tasks that run have to end by themselves, until their waits for each other are ended;
/// and until their chips are.
constexpr std::chrono::milliseconds kGrace{200};
constexpr std::chrono::seconds kLastGrace{1};
/// How long chips have to end when they are told to.
constexpr std::chrono::seconds kEndGrace{5};

}  // namespace

WorkerState::WorkerState(WorkerOptions options)
    : options_(settled(std::move(options))),
      timeout_(baton::options().wait_timeout),
      sub_workers_(std::make_unique<SubWorkers>(
          options_.sub_workers, options_.kernel_timeout.value_or(baton::options().kernel_limit()),
          [this](std::uint64_t id, const std::exception_ptr& failure) { sub_ended(id, failure); })) {
  // This process has the file of a trace open for longer than its chips.
  events::begin();
  {
    const Lock lock(mutex_);
    start_chips();
  }
  if (options_.isolation == Isolation::inproc) return;
  trace_follower_.emplace([this](const events::TraceChange& change) { follow_trace(change); });
}

WorkerState::~WorkerState() {
  trace_follower_.reset();
  try {
    close();
  } catch (const std::exception& error) {
    log::warn("closing a worker: {}", error.what());
  }
}

void WorkerState::start_chips() {
  const auto on_death = [this](std::size_t chip, const std::string& how) { chip_died(chip, how); };
  if (options_.isolation == Isolation::inproc) {
    chips_ = start_inproc_chips(options_);
  } else {
    chips_ = options_.hosts.empty() ? start_process_chips(options_, on_death) : start_hosts_chips(options_, on_death);
  }
  links_.clear();
  for (std::size_t i = 0; i < options_.devices.size(); ++i) {
    ChipLink& made = links_.emplace_back();
    const MailboxViews views = views_of(chips_->header(), i);
    made.box = &wire::mailbox_of(chips_->header(), i);
    made.tasks = StreamWriter(views.tasks);
    made.reports = StreamReader(views.reports);
    made.control = StreamWriter(views.control);
    made.replies = StreamReader(views.replies);
    made.staging = views.staging;
    made.task_ring = views.tasks;
    made.report_ring = views.reports;
    made.reply_ring = views.replies;
  }
  for (auto& [id, buffer] : buffers_) std::fill(buffer.given.begin(), buffer.given.end(), false);
  ++generation_;
  needs_restart_ = false;
  stop_service_.store(false, std::memory_order_relaxed);
  service_ = start_thread([this] { serve(); });
}

/// Works while no other thread does: what completes on one chip may be what another waits for.
void WorkerState::serve() {
  wire::NodeHeader& header = chips_->header();
  const ParkingPlace place{&header.service, chips_->scope(), Crowding::packed};
  const auto wanted = [&] {
    if (stop_service_.load(std::memory_order_seq_cst)) return true;
    return header.armed.load(std::memory_order_seq_cst) != 0 &&
           news(epoch_.load(std::memory_order_seq_cst), Replies::ignore);
  };
  while (true) {
    static_cast<void>(wait_until(place, wanted, Deadline::never(), [] {}));
    if (stop_service_.load(std::memory_order_seq_cst)) return;
    const Lock lock(mutex_);
    progress();
    settle();
  }
}

/// With no run active. The mutex is not held: chips that die now say so.
void WorkerState::stop_chips() noexcept {
  std::chrono::nanoseconds grace = kEndGrace;
  {
    const Lock lock(mutex_);
    if (!chips_) return;
    // Those that a failed run has left behind may wait for each other.
    if (needs_restart_) grace = std::chrono::nanoseconds(0);
    MessageWriter message;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (!links_[i].death.empty()) continue;
      message.begin(MessageKind::stop);
      send(static_cast<int>(i), 0, message.finish());
      message.begin(MessageKind::stop_control);
      message.put(std::uint64_t{0});
      static_cast<void>(links_[i].control.write(message.finish()));
      chips_->ring(i);
    }
  }
  chips_->end(Deadline::after(grace));
  // Pairs with the load in serve().
  stop_service_.store(true, std::memory_order_seq_cst);
  chips_->header().service.ring_always(chips_->scope());
  if (service_.joinable()) service_.join();
  const Lock lock(mutex_);
  chips_.reset();
  links_.clear();
  forget_units();
}

/// No run is active: what is left are messages of the node itself to chips that have ended.
void WorkerState::forget_units() {
  first_ += units_.size();
  units_.clear();
  blocked_ = 0;
  map_.forget_before(first_);
  drop_unused();
}

/// Waits until the chips can take work; starts them again if they must be.
void WorkerState::ready_for_use(Lock& lock) {
  if (closed_) fail(Code::released, "the worker was closed");
  if (!needs_restart_) return;
  check_outside("starting the chips again");
  idle_.wait(lock, [this] { return active_ == 0 || !needs_restart_ || closed_; });
  if (closed_) fail(Code::released, "the worker was closed");
  if (!needs_restart_) return;
  ++active_;  // nobody else begins
  lock.unlock();
  try {
    stop_chips();
    lock.lock();
    start_chips();
  } catch (...) {
    // The next use tries again.
    if (!lock.owns_lock()) lock.lock();
    --active_;
    idle_.notify_all();
    throw;
  }
  --active_;
  idle_.notify_all();
}

void WorkerState::check_outside(const char* what) const {
  if (!InsideRun::of(*this)) return;
  fail(Situation::inside_run, "{} inside a run of this worker would wait for that run", what);
}

void WorkerState::begin_use() {
  Lock lock(mutex_);
  ready_for_use(lock);
  ++active_;
}

void WorkerState::end_use() noexcept {
  const Lock lock(mutex_);
  --active_;
  idle_.notify_all();
}

void WorkerState::restart() {
  check_outside("restart()");
  Lock lock(mutex_);
  if (closed_) fail(Code::released, "the worker was closed");
  needs_restart_ = true;
  ready_for_use(lock);
}

void WorkerState::close() {
  check_outside("close()");
  std::vector<Background> ended;
  {
    Lock lock(mutex_);
    if (closed_) return;
    idle_.wait(lock, [this] { return active_ == 0; });
    if (closed_) return;
    closed_ = true;
    ended.swap(background_);
  }
  for (Background& one : ended) one.thread.join();
  stop_chips();
  const Lock lock(mutex_);
  for (auto& [id, domain] : domains_) domain->released.store(true, std::memory_order_relaxed);
  domains_.clear();
  units_.clear();
  buffers_.clear();
  by_address_.clear();
  unused_.clear();
}

int WorkerState::pid_of(int chip) {
  check_chip("pid_of", chip);
  Lock lock(mutex_);
  // Inside a run the chips are what they are.
  if (!InsideRun::of(*this) || closed_) ready_for_use(lock);
  return static_cast<int>(chips_->pid(static_cast<std::size_t>(chip)));
}

void WorkerState::run(const OrchestrationFunction& orchestration, const Place& where) {
  begin_use();
  const auto run = std::make_shared<RunState>(++last_run_, where);
  execute(run, orchestration);
  if (const auto failure = run->result()) std::rethrow_exception(failure);
}

std::shared_ptr<RunState> WorkerState::start_run(OrchestrationFunction orchestration, const Place& where) {
  reap_threads();
  begin_use();
  auto run = std::make_shared<RunState>(++last_run_, where);
  const Lock lock(mutex_);
  try {
    background_.push_back({start_thread([this, run, body = std::move(orchestration)] { execute(run, body); }), run});
  } catch (...) {
    --active_;
    idle_.notify_all();
    throw;
  }
  return run;
}

void WorkerState::reap_threads() {
  std::vector<Background> ended;
  {
    const Lock lock(mutex_);
    const auto begin = std::partition(background_.begin(), background_.end(),
                                      [](const Background& one) { return !one.run->finished(); });
    std::move(begin, background_.end(), std::back_inserter(ended));
    background_.erase(begin, background_.end());
  }
  for (Background& one : ended) one.thread.join();
}

void WorkerState::execute(const std::shared_ptr<RunState>& run, const OrchestrationFunction& orchestration) noexcept {
  std::exception_ptr thrown;
  const std::uint64_t began = ticks();
  try {
    const InsideRun inside(*this);
    Orchestration of_this_run(shared_from_this(), run);
    orchestration(of_this_run);
    process_.check("this run");
  } catch (...) {
    thrown = std::current_exception();
  }
  // A child that the orchestration forked: the tasks are the parent's, and so are those who use the locks.
  if (!process_.is_this()) return run->finish(thrown);
  std::exception_ptr result;
  {
    Lock lock(mutex_);
    if (thrown) {
      run->thrown = thrown;
      cancel(*run);
    }
    finish_tasks(*run, lock);
    if (is_checked()) {
      checked_.awaited_all({});
      map_.forget_before(first_);
    }
    // Another run may go on, and submit more tasks behind those of its groups.
    if (active_ == 1) edges_.clear();
    result = run->root_cause();
    note_run(*run, began, result ? EventOutcome::failed : EventOutcome::done);
  }
  run->finish(result);
  end_use();
}

void WorkerState::note_run(const RunState& run, std::uint64_t began, EventOutcome outcome) const {
  if (!events::wants(EventKind::node_run)) return;
  events::record({.begin = began,
                  .end = ticks(),
                  .kind = EventKind::node_run,
                  .outcome = outcome,
                  .place = events::text_of(run.where),
                  .a = run.tasks,
                  .b = checked_.id});
}

void WorkerState::finish_tasks(RunState& run, Lock& lock) {
  const auto complete = [&] { return run.pending == 0; };
  static_cast<void>(wait_locked(lock, Deadline::never(), Replies::ignore, [&] { return complete() || run.failed; }));
  if (complete()) return;
  if (wait_locked(lock, Deadline::after(kGrace), Replies::ignore, complete)) return;
  abort();
  if (wait_locked(lock, Deadline::after(kLastGrace), Replies::ignore, complete)) return;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const auto of_run = [&](graph::TaskId id) { return id != 0 && unit(id).run == &run; };
    if (!std::any_of(links_[i].flying.begin(), links_[i].flying.end(), of_run)) continue;
    links_[i].ended_for = "a run had failed, a task of it did not end, and the node ended the chip";
    links_[i].ended_with_run = true;
    chips_->kill(i);
  }
  static_cast<void>(wait_locked(lock, Deadline::never(), Replies::ignore, complete));
}

/// What waits for signals of tasks that will never run would wait until its deadline: ends it now, as if all chips had
/// died. They are started again before the next run.
void WorkerState::abort() {
  needs_restart_ = true;
  chips_->end_waits();
}

void WorkerState::chip_died(std::size_t chip, const std::string& how) {
  const Lock lock(mutex_);
  ChipLink& dead = links_[chip];
  dead.death = dead.ended_for.empty() ? how : dead.ended_for;
  needs_restart_ = true;
  progress();
  Failure failure{Code::rank_failed, fmt::format("{} died: {}", name_of(static_cast<int>(chip)), dead.death), {}};
  const auto running = std::find_if(dead.flying.begin(), dead.flying.end(),
                                    [this](graph::TaskId id) { return id != 0 && unit(id).run != nullptr; });
  if (running != dead.flying.end()) failure.notes.push_back("it ran " + describe(unit(*running)));
  dead.flying.clear();
  dead.backlog.clear();
  dead.backlogged.store(false, std::memory_order_relaxed);
  std::set<RunState*> told;
  for (Unit& lost : units_) {
    const bool of_chip = lost.chip == static_cast<int>(chip) || lost.watcher == static_cast<int>(chip);
    if (!of_chip || lost.phase == Unit::Phase::done) continue;
    // What had failed before is the cause, not how the node ended it.
    const bool is_known = lost.run != nullptr && dead.ended_with_run && lost.run->failed;
    if (lost.run != nullptr && !is_known && told.insert(lost.run).second) fail_run(*lost.run, failure);
    if (lost.phase != Unit::Phase::done) finish(lost);
  }
  dead.queue.clear();
  forget_complete();
  tell_waiters();
  settle();
}

}  // namespace baton::node
