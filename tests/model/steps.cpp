// What an interleaving looks like in a report.
#include <fmt/format.h>

#include <algorithm>

#include "engine.hpp"

namespace baton::model {
namespace {

const char* order_name(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed: return "relaxed";
    case std::memory_order_consume: return "consume";
    case std::memory_order_acquire: return "acquire";
    case std::memory_order_release: return "release";
    case std::memory_order_acq_rel: return "acq_rel";
    case std::memory_order_seq_cst: return "seq_cst";
  }
  return "?";
}

bool inside(const void* address, const void* object, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(object);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at >= first && at < first + bytes;
}

}  // namespace

const std::string& Engine::thread_name(Thread thread) const {
  static const std::string end = "at the end";
  return thread < scenario_.threads_.size() ? scenario_.threads_[thread].name : end;
}

void Engine::give_names() {
  std::vector<std::pair<const void*, std::string*>> nameless;
  for (Place place = 0; place < memory_.locations(); ++place) {
    Location& location = memory_.location(place);
    location.name = fmt::format("atomic {}", place);
    nameless.emplace_back(location.address, &location.name);
  }
  for (Place place = 0; place < memory_.variables(); ++place) {
    Variable& variable = memory_.variable(place);
    variable.name = fmt::format("variable {}", place);
    nameless.emplace_back(variable.address, &variable.name);
  }
  std::sort(nameless.begin(), nameless.end());
  for (const auto& naming : scenario_.names_) {
    std::size_t part = 0;
    for (auto& [address, name] : nameless) {
      if (!inside(address, naming.object, naming.bytes)) continue;
      if (address == naming.object && naming.parts.empty()) {
        *name = naming.name;
      } else if (part < naming.parts.size()) {
        *name = fmt::format("{}.{}", naming.name, naming.parts[part]);
      } else {
        *name = fmt::format("{}[{}]", naming.name, part);
      }
      ++part;
    }
  }
}

void Engine::note(Thread thread, const std::string& text) {
  steps_.push_back(fmt::format("{:>3}  {:<10} {}", steps_.size() + 1, thread_name(thread), text));
}

void Engine::note_step(const Runner& runner, const Transition& transition, const Result& result) {
  const Operation& operation = runner.operation;
  const auto newer_than = [&](std::size_t message) {
    const std::size_t newer = memory_.location(transition.place).order.size() - 1 - message;
    return newer == 0 ? std::string() : fmt::format(" ({} newer)", newer);
  };
  std::string text;
  switch (operation.kind) {
    case Kind::load:
      text =
          fmt::format("load {}, reads {}{}", order_name(operation.order), result.value, newer_than(transition.message));
      break;
    case Kind::store:
      text = fmt::format("store {} {}{}", operation.operand, order_name(operation.order),
                         newer_than(transition.message + 1));
      break;
    case Kind::update:
      text = fmt::format("{}({}) {}, {} -> {}{}", operation.verb, operation.operand, order_name(operation.order),
                         result.value, operation.combine(result.value, operation.operand),
                         newer_than(transition.message + 1));
      break;
    case Kind::compare_exchange:
      if (result.success == Success::yes) {
        text =
            fmt::format("compare_exchange {}, {} -> {}", order_name(operation.order), result.value, operation.operand);
      } else {
        text = fmt::format("compare_exchange {}, expects {}, reads {}", order_name(operation.order_on_failure),
                           operation.expected, result.value);
      }
      break;
    case Kind::futex_wait:
      text =
          fmt::format("futex wait while {}, reads {}{}, {}", operation.expected,
                      memory_.location(operation.place).order[transition.message].value, newer_than(transition.message),
                      runner.status == Status::sleeping ? "sleeps" : "does not sleep");
      break;
    case Kind::futex_wake: text = "futex wake"; break;
    case Kind::pause: text = "spins until something newer is to be read"; break;
    case Kind::choose: return note(runner.index, fmt::format("chooses {} of {}", result.value, operation.operand));
    case Kind::wait_for_end:
      note(runner.index, fmt::format("sees that {} {}", thread_name(static_cast<Thread>(operation.operand)),
                                     result.value == 0 ? "finished" : "stopped"));
      return;
  }
  note(runner.index, fmt::format("{}: {}", memory_.location(transition.place).name, text));
}

std::string Engine::describe_deadlock() const {
  std::string text = "nobody can go on:";
  for (const Runner& runner : runners_) {
    if (runner.index + 1 == runners_.size() || has_ended(runner.index)) continue;
    text += " " + thread_name(runner.index);
    switch (runner.operation.kind) {
      case Kind::futex_wait:
        text += fmt::format(" sleeps on {};", memory_.location(runner.operation.place).name);
        break;
      case Kind::pause: text += runner.loaded.empty() ? " pauses but has read nothing;" : " spins;"; break;
      default: text += " waits for another thread's end;";
    }
  }
  text.pop_back();
  return text;
}

}  // namespace baton::model
