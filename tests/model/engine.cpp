#include "engine.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>

namespace baton::model {
namespace {

Engine* current_engine = nullptr;

}  // namespace

Engine& Engine::current() {
  if (current_engine == nullptr) throw std::logic_error("model atomics exist only inside explore()");
  return *current_engine;
}

Engine::~Engine() {
  if (current_engine == this) current_engine = nullptr;
}

void Scenario::clear() {
  threads_.clear();
  names_.clear();
  at_end_ = nullptr;
  worlds_.clear();
}

void Engine::begin() {
  current_engine = this;
  scenario_.clear();
  memory_.clear();
  trouble_.reset();
  last_.reset();
  steps_.clear();
  spurious_wakeups_ = 0;
  phase_ = Phase::setting_up;
  make_scenario_(scenario_);
  const auto threads = scenario_.threads_.size();
  memory_.start(static_cast<Thread>(threads + 1));
  if (recording_) give_names();
  runners_.resize(threads + 1);
  phase_ = Phase::running;
  for (Thread thread = 0; thread <= threads; ++thread) {
    Runner& runner = runners_[thread];
    runner.engine = this;
    runner.index = thread;
    if (runner.stack == nullptr) runner.stack = std::make_unique<Stack>();
    runner.acts = thread < threads ? &scenario_.threads_[thread].acts : nullptr;
    runner.status = Status::ready;
    runner.observed.clear();
    runner.stack->begin(&Engine::run_acts, &runner);
  }
  for (Thread thread = 0; thread < threads && !trouble_; ++thread) run(runners_[thread]);
}

void Engine::run_acts(void* argument) {
  Runner& runner = *static_cast<Runner*>(argument);
  Engine& engine = *runner.engine;
  std::string thrown;
  try {
    if (runner.acts == nullptr) {
      engine.scenario_.at_end_();
      return;
    }
    for (std::size_t act = 0; act < runner.acts->size(); ++act) {
      runner.history = mix(0, act);
      runner.loaded.clear();
      (*runner.acts)[act]();
    }
    runner.history = mix(0, runner.acts->size());
    runner.loaded.clear();
  } catch (const std::exception& error) {
    thrown = engine.thread_name(runner.index) + " threw: " + error.what();
  }
  if (!thrown.empty()) engine.record(Violation::exception, std::move(thrown));
}

void Engine::run(Runner& runner) {
  running_ = runner.index;
  runner.stack->enter();
  if (runner.stack->ended()) runner.status = Status::ended;
}

Result Engine::perform(const Operation& operation) {
  if (phase_ != Phase::running) return execute_at_once(operation);
  Runner& runner = runners_[running_];
  runner.operation = operation;
  note_uses(running_, operation);
  runner.stack->leave();
  return runner.result;
}

void Engine::note_uses(Thread thread, const Operation& operation) {
  const auto uses = [&](Use use) { footprint_grew_ |= footprint_.add(thread, operation.place, use); };
  const auto loads = [&](std::memory_order order) { uses(order == std::memory_order_seq_cst ? kLoadsSeqCst : kLoads); };
  switch (operation.kind) {
    case Kind::load: return loads(operation.order);
    case Kind::compare_exchange: loads(operation.order_on_failure); [[fallthrough]];
    case Kind::store:
    case Kind::update: return uses(operation.order == std::memory_order_seq_cst ? kWritesSeqCst : kWrites);
    case Kind::futex_wait: return uses(kSleeps);
    case Kind::pause:
      for (const auto& [place, stamp] : runners_[thread].loaded) {
        footprint_grew_ |= footprint_.add(thread, place, kSpins);
      }
      return;
    case Kind::futex_wake:
    case Kind::choose:
    case Kind::wait_for_end: return;
  }
}

void Engine::record(Violation violation, std::string text) {
  if (!trouble_) trouble_ = Trouble{violation, std::move(text)};
}

void Engine::fail(Violation violation, std::string text) {
  if (phase_ == Phase::setting_up) throw std::logic_error(text);
  record(violation, std::move(text));
  runners_[running_].stack->leave();
}

std::uint64_t Engine::read_variable(Place place) {
  std::uint64_t value = 0;
  if (phase_ == Phase::setting_up) return memory_.variable(place).value;
  const char* const race = memory_.read_variable(running_, place, value);
  Runner& runner = runners_[running_];
  runner.history = mix(runner.history, value);
  if (recording_) note(running_, memory_.variable(place).name + ": read " + std::to_string(value));
  if (race != nullptr) {
    fail(Violation::race, thread_name(running_) + " reads " + memory_.variable(place).name + ", with " + race + " by " +
                              thread_name(memory_.variable(place).writer));
  }
  return value;
}

void Engine::write_variable(Place place, std::uint64_t value) {
  if (phase_ == Phase::setting_up) {
    memory_.variable(place).value = value;
    return;
  }
  const char* const race = memory_.write_variable(running_, place, value);
  if (recording_) note(running_, memory_.variable(place).name + ": write " + std::to_string(value));
  if (race != nullptr) {
    fail(Violation::race, thread_name(running_) + " writes " + memory_.variable(place).name + ", with " + race);
  }
}

void Engine::observe(std::uint64_t value) { runners_[running_].observed.push_back(value); }

bool Engine::has_ended(Thread thread) const {
  return runners_[thread].status == Status::ended || runners_[thread].status == Status::stopped;
}

bool Engine::all_ended() const {
  for (Thread thread = 0; thread + 1 < runners_.size(); ++thread) {
    if (!has_ended(thread)) return false;
  }
  return true;
}

void Engine::finish() {
  if (!scenario_.at_end_) return;
  phase_ = Phase::ending;
  Runner& runner = runners_.back();
  for (Thread thread = 0; thread + 1 < runners_.size(); ++thread) memory_.join(runner.index, thread);
  run(runner);
}

std::uint64_t Engine::fingerprint() const {
  static thread_local std::vector<Thread> live;
  live.clear();
  std::uint64_t hash = static_cast<std::uint64_t>(spurious_wakeups_);
  for (Thread thread = 0; thread + 1 < runners_.size(); ++thread) {
    const Runner& runner = runners_[thread];
    hash = mix(hash, static_cast<std::uint64_t>(runner.status));
    for (const std::uint64_t value : runner.observed) hash = mix(hash, value);
    hash = mix(hash, runner.observed.size());
    if (has_ended(thread)) continue;
    live.push_back(thread);
    hash = mix(hash, runner.history);
    for (const auto& [place, stamp] : runner.loaded) {
      if ((footprint_.uses(thread, place) & kSpins) == 0) continue;
      const bool outdated = stamp < memory_.seen(thread, place);
      const bool newest = stamp == memory_.location(place).order.back().stamp;
      hash = mix(hash, place * 4 + (outdated ? 0 : newest ? 1 : 2));
    }
  }
  return mix(hash, memory_.fingerprint(live, footprint_));
}

std::vector<std::uint64_t> Engine::outcome() const {
  std::vector<std::uint64_t> values;
  for (const Runner& runner : runners_) values.insert(values.end(), runner.observed.begin(), runner.observed.end());
  return values;
}

}  // namespace baton::model
