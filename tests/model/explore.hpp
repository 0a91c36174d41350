// Explores every behaviour of a small concurrent scenario: every order in which its threads can take their steps, and
// every value that each load may read.
//
//   const Report report = explore("message passing", [](Scenario& scenario) {
//     auto& world = scenario.make<World>();                 // atomics and variables of atomics.hpp
//     scenario.thread("writer", [&] { world.data.write(1); world.flag.store(1, std::memory_order_release); });
//     scenario.thread("reader", [&] {
//       if (world.flag.load(std::memory_order_acquire) == 1) require(world.data.read() == 1, "the data is there");
//     });
//   });
//   expect_holds(report);
//
// The function given to explore() runs once per execution. Threads share nothing but model atomics and variables and
// do nothing that depends on anything else. An execution that leads to a state seen before is left in the middle:
// frames of threads are then forgotten, so they own no memory while they perform an operation.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "memory.hpp"

namespace baton::model {

using Act = std::function<void()>;

/// Which executions are left out because they only repeat what others show. Less than all is for checking the explorer.
enum class Reduction : std::uint8_t {
  none,    ///< Every interleaving, every value.
  states,  ///< A state that was reached before is not explored again.
  all,     ///< Nor are both orders of two operations, where the order makes no difference.
};

struct Options {
  /// Explore only executions in which at most so many times a thread is left that could have gone on. Unset: all.
  std::optional<int> preemptions = std::nullopt;
  /// How many sleeping threads wake in one execution although nobody woke them.
  int spurious_wakeups = 0;
  Reduction reduction = Reduction::all;
  /// Beyond these the exploration fails: it never looks complete when it is not.
  std::size_t max_states = 4'000'000;
  std::size_t max_steps = 1'000;
};

enum class Violation : std::uint8_t {
  deadlock,          ///< Somebody sleeps or spins, and nobody is left to change that.
  race,              ///< Two accesses to a plain variable, one a write, that nothing orders.
  requirement,       ///< require() did not hold.
  exception,         ///< A thread threw.
  endless,           ///< More than max_steps steps.
  too_large,         ///< More than max_states states.
  nondeterministic,  ///< Replaying the same choices led elsewhere: the scenario depends on something outside.
};

struct Failure {
  Violation violation;
  std::string text;
  /// One line per step; the shortest interleaving found among those with the fewest preemptions.
  std::vector<std::string> steps;
};

struct Report {
  std::string name;
  /// Runs from the beginning to an end, a failure or a state seen before.
  std::size_t executions = 0;
  std::size_t states = 0;
  std::size_t longest = 0;
  std::optional<Failure> failure;
  /// What threads gave to observe(), thread after thread, of all complete executions.
  std::set<std::vector<std::uint64_t>> outcomes;

  [[nodiscard]] std::string text() const;
};

class Scenario {
 public:
  Scenario() = default;
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;

  /// An object that holds the atomics and variables of the scenario. It lives as long as the execution.
  template <class World, class... Arguments>
  World& make(Arguments&&... arguments) {
    auto world = std::make_shared<World>(std::forward<Arguments>(arguments)...);
    worlds_.push_back(world);
    return *world;
  }

  Thread thread(std::string name, Act act) { return thread(std::move(name), std::vector<Act>{std::move(act)}); }

  /// A thread that performs `acts` one after the other. What an act learned is forgotten at its end: all that it leaves
  /// to the next is in model atomics and variables. States that differ only in what was forgotten are explored once.
  Thread thread(std::string name, std::vector<Act> acts) {
    threads_.push_back({std::move(name), std::move(acts)});
    return static_cast<Thread>(threads_.size() - 1);
  }

  /// The thread may stop for ever before any of its operations, as a killed process does.
  void may_stop(Thread thread) { threads_[thread].may_stop = true; }

  /// Runs when all threads have ended, and sees all they did.
  void at_end(Act act) { at_end_ = std::move(act); }

  /// What the atomics and variables inside `object` are called in reports, in the order in which it holds them.
  template <class Object>
  void name(const char* name, const Object& object, std::initializer_list<const char*> parts = {}) {
    names_.push_back({name, &object, sizeof(Object), {parts.begin(), parts.end()}});
  }

 private:
  friend class Engine;
  struct ThreadPlan {
    std::string name;
    std::vector<Act> acts;
    bool may_stop = false;
  };
  struct Naming {
    const char* name;
    const void* object;
    std::size_t bytes;
    std::vector<const char*> parts;
  };
  void clear();

  std::vector<std::shared_ptr<void>> worlds_;
  std::vector<ThreadPlan> threads_;
  std::vector<Naming> names_;
  Act at_end_;
};

using MakeScenario = std::function<void(Scenario&)>;

[[nodiscard]] Report explore(const std::string& name, const MakeScenario& make_scenario, const Options& options = {});

// Called by threads of a scenario.

/// A violation unless `holds`.
void require(bool holds, const char* what);
/// Adds `value` to the outcome of this execution.
void observe(std::uint64_t value);
/// A number below `count`; each is explored. For what comes from outside, as a deadline that passes or does not.
[[nodiscard]] std::uint64_t choose(std::uint64_t count);
/// One turn of a spinning loop has read nothing that lets it end. Returns when another turn would read something newer.
void pause();
enum class Ending : std::uint8_t { finished, stopped };
/// Waits until `thread` ended, as a parent process waits for a child.
Ending wait_for_end(Thread thread);
/// The thread that runs.
[[nodiscard]] Thread current_thread();

// Called by tests.

/// Fails the test if the report has a violation, and prints its interleaving.
void expect_holds(const Report& report);
/// Fails the test unless the report has this violation. Prints the interleaving that shows it.
void expect_violation(const Report& report, Violation violation);

}  // namespace baton::model
