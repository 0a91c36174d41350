// What the operations of threads do, and in which ways they can go.
#include <algorithm>

#include "engine.hpp"

namespace baton::model {

void Engine::transitions(std::vector<Transition>& out) const {
  out.clear();
  if (last_) add_transitions(runners_[*last_], out);
  for (Thread thread = 0; thread + 1 < runners_.size(); ++thread) {
    if (thread != last_) add_transitions(runners_[thread], out);
  }
}

void Engine::add_transitions(const Runner& runner, std::vector<Transition>& out) const {
  using Action = Transition::Action;
  if (runner.status == Status::ended || runner.status == Status::stopped) return;
  const Operation& operation = runner.operation;
  const Thread thread = runner.index;
  const auto add = [&](Action action, std::size_t message) {
    out.push_back({thread, action, operation.kind, operation.place, message});
  };
  if (scenario_.threads_[thread].may_stop) add(Action::stop, 0);
  if (runner.status == Status::sleeping) {
    if (spurious_wakeups_ < options_.spurious_wakeups) add(Action::wake_spuriously, 0);
    return;
  }
  // The newest message comes first, so that the search begins with what mostly happens.
  const auto add_messages = [&](std::size_t oldest, auto&& suits) {
    const auto& order = memory_.location(operation.place).order;
    for (std::size_t i = order.size(); i > oldest; --i) {
      if (suits(order[i - 1])) add(Action::proceed, i - 1);
    }
  };
  const auto oldest = [&](std::memory_order order) { return memory_.oldest_readable(thread, operation.place, order); };
  switch (operation.kind) {
    case Kind::load: add_messages(oldest(operation.order), [](const Message&) { return true; }); break;
    case Kind::store:
    case Kind::update:
      add_messages(oldest(operation.order), [](const Message& message) { return !message.taken; });
      break;
    case Kind::compare_exchange:
      add_messages(oldest(operation.order),
                   [&](const Message& message) { return message.value == operation.expected && !message.taken; });
      add_messages(oldest(operation.order_on_failure),
                   [&](const Message& message) { return message.value != operation.expected; });
      break;
    case Kind::futex_wait:
      add_messages(memory_.oldest_in_futex(thread, operation.place), [](const Message&) { return true; });
      break;
    case Kind::futex_wake: add(Action::proceed, 0); break;
    case Kind::choose:
      for (std::size_t number = 0; number < operation.operand; ++number) add(Action::proceed, number);
      break;
    case Kind::pause: add_pause_transitions(runner, out); break;
    case Kind::wait_for_end:
      if (has_ended(static_cast<Thread>(operation.operand))) add(Action::proceed, 0);
      break;
  }
}

void Engine::add_pause_transitions(const Runner& runner, std::vector<Transition>& out) const {
  using Action = Transition::Action;
  for (const auto& [place, stamp] : runner.loaded) {
    if (memory_.seen(runner.index, place) > stamp) {
      // What it read is outdated already: the next turn differs from the last.
      out.push_back({runner.index, Action::proceed, Kind::pause, place, memory_.index_of(place, stamp)});
      return;
    }
  }
  // Each turn that reads only what the last one read changes nothing. So something newer is read, which one is a
  // choice.
  for (const auto& [place, stamp] : runner.loaded) {
    for (std::size_t i = memory_.location(place).order.size(); i > memory_.index_of(place, stamp + 1); --i) {
      out.push_back({runner.index, Action::proceed, Kind::pause, place, i - 1});
    }
  }
}

bool Engine::order_matters(Thread one, Thread other) const {
  const Runner& a = runners_[one];
  const Runner& b = runners_[other];
  // Spurious wake-ups are counted together.
  if (a.status == Status::sleeping && b.status == Status::sleeping) return true;
  const auto only_reads = [](Kind kind) { return kind == Kind::load || kind == Kind::futex_wait; };
  const auto has_no_place = [](Kind kind) {
    return kind == Kind::choose || kind == Kind::pause || kind == Kind::wait_for_end;
  };
  const Operation& x = a.operation;
  const Operation& y = b.operation;
  if (has_no_place(x.kind) || has_no_place(y.kind)) {
    // A pause depends on stores to whatever the thread has read.
    return (x.kind == Kind::pause && !only_reads(y.kind)) || (y.kind == Kind::pause && !only_reads(x.kind));
  }
  if (x.place != y.place) return false;
  // A sequentially consistent load forbids others to read anything older.
  const bool both_seq_cst = x.order == std::memory_order_seq_cst && y.order == std::memory_order_seq_cst;
  return !only_reads(x.kind) || !only_reads(y.kind) || both_seq_cst;
}

void Engine::take(const Transition& transition) {
  using Action = Transition::Action;
  Runner& runner = runners_[transition.thread];
  const bool fits = transition.kind == Kind::pause || transition.place == runner.operation.place;
  if (runner.operation.kind != transition.kind || !fits || has_ended(transition.thread)) {
    trouble_ = Trouble{Violation::nondeterministic, "the scenario does not behave the same way twice"};
    return;
  }
  last_ = transition.thread;
  switch (transition.action) {
    case Action::stop:
      runner.status = Status::stopped;
      if (recording_) note(runner.index, "stops for ever");
      return;
    case Action::wake_spuriously:
      ++spurious_wakeups_;
      runner.status = Status::ready;
      if (recording_) note(runner.index, "wakes although nobody woke it");
      complete(runner, {});
      return;
    case Action::proceed: break;
  }
  const Result result = execute(runner.index, runner.operation, transition);
  if (recording_) note_step(runner, transition, result);
  if (runner.status == Status::ready) complete(runner, result);
  if (transition.kind == Kind::futex_wake && !trouble_) wake_sleepers(transition.place);
}

void Engine::complete(Runner& runner, Result result) {
  runner.result = result;
  runner.history = mix(runner.history, result.value * 2 + (result.success == Success::yes ? 1 : 0));
  run(runner);
}

void Engine::wake_sleepers(Place place) {
  for (Thread thread = 0; thread + 1 < runners_.size(); ++thread) {
    Runner& runner = runners_[thread];
    if (runner.status != Status::sleeping || runner.operation.place != place || trouble_) continue;
    runner.status = Status::ready;
    complete(runner, {});
  }
}

Result Engine::execute(Thread thread, const Operation& operation, const Transition& transition) {
  const Place place = operation.place;
  const std::size_t message = transition.message;
  Runner& runner = runners_[thread];
  const auto remember_load = [&] {
    const Stamp stamp = memory_.location(place).order[message].stamp;
    for (auto& [loaded, at] : runner.loaded) {
      if (loaded == place) {
        at = stamp;
        return;
      }
    }
    runner.loaded.emplace_back(place, stamp);
  };
  switch (operation.kind) {
    case Kind::load: remember_load(); return {.value = memory_.load(thread, place, message, operation.order)};
    case Kind::store: memory_.store(thread, place, message, operation.operand, operation.order); return {};
    case Kind::update: {
      const std::uint64_t old = memory_.location(place).order[message].value;
      memory_.replace(thread, place, message, operation.combine(old, operation.operand), operation.order);
      return {.value = old};
    }
    case Kind::compare_exchange: {
      const std::uint64_t old = memory_.location(place).order[message].value;
      if (old == operation.expected) {
        memory_.replace(thread, place, message, operation.operand, operation.order);
        return {.value = old};
      }
      remember_load();
      memory_.load(thread, place, message, operation.order_on_failure);
      return {.value = old, .success = Success::no};
    }
    case Kind::futex_wait:
      if (memory_.load(thread, place, message, std::memory_order_relaxed) == operation.expected) {
        runner.status = Status::sleeping;
      }
      return {};
    case Kind::futex_wake: memory_.publish_to_futex(thread, place); return {};
    case Kind::choose: return {.value = message};
    case Kind::pause:
      memory_.catch_up(thread, transition.place, message);
      runner.loaded.clear();
      return {};
    case Kind::wait_for_end: {
      const auto other = static_cast<Thread>(operation.operand);
      memory_.join(thread, other);
      return {.value = static_cast<std::uint64_t>(runners_[other].status == Status::stopped ? Ending::stopped
                                                                                            : Ending::finished)};
    }
  }
  return {};
}

Result Engine::execute_at_once(const Operation& operation) {
  const Kind kind = operation.kind;
  if (kind == Kind::choose || kind == Kind::pause || kind == Kind::wait_for_end || kind == Kind::futex_wait) {
    fail(Violation::deadlock, "a choice or a wait before the threads begin or after they ended");
  }
  Message& message = memory_.location(operation.place).order.back();
  const std::uint64_t old = message.value;
  const bool differs = operation.kind == Kind::compare_exchange && old != operation.expected;
  if (operation.kind == Kind::store || (operation.kind == Kind::compare_exchange && !differs)) {
    message.value = operation.operand;
  }
  if (operation.kind == Kind::update) message.value = operation.combine(old, operation.operand);
  return {.value = old, .success = differs ? Success::no : Success::yes};
}

}  // namespace baton::model
