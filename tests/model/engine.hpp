// One execution of a scenario, step by step, as the search tells it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explore.hpp"
#include "memory.hpp"
#include "stack.hpp"

namespace baton::model {

enum class Kind : std::uint8_t {
  load,
  store,
  update,
  compare_exchange,
  futex_wait,
  futex_wake,
  choose,
  pause,
  wait_for_end
};

/// What a thread is about to do. Scheduling happens between operations, and nowhere else.
struct Operation {
  Kind kind;
  Place place = 0;
  std::memory_order order = std::memory_order_relaxed;
  std::memory_order order_on_failure = std::memory_order_relaxed;
  std::uint64_t operand = 0;
  std::uint64_t expected = 0;
  /// For updates: the new value, from the old one and the operand.
  std::uint64_t (*combine)(std::uint64_t, std::uint64_t) = nullptr;
  const char* verb = "";
};

enum class Success : std::uint8_t { no, yes };

struct Result {
  std::uint64_t value = 0;
  Success success = Success::yes;
};

/// One way for the execution to go on.
struct Transition {
  enum class Action : std::uint8_t { proceed, wake_spuriously, stop };
  Thread thread;
  Action action;
  /// The thread's operation, to notice when a replay leads elsewhere.
  Kind kind;
  Place place;
  /// Index of the message that is read or after which is stored; for choose() the number.
  std::size_t message;
};

class Engine {
 public:
  Engine(const MakeScenario& make_scenario, const Options& options)
      : make_scenario_(make_scenario), options_(options) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  /// Makes the scenario anew and runs every thread to its first operation.
  void begin();

  /// All ways to go on; those of the thread that ran last come first.
  void transitions(std::vector<Transition>& out) const;
  void take(const Transition& transition);
  /// Whether the order of the next operations of two threads matters: what they find, or what they leave.
  [[nodiscard]] bool order_matters(Thread one, Thread other) const;

  [[nodiscard]] bool all_ended() const;
  /// Runs the check at the end.
  void finish();
  /// Equal for states with equal futures, as long as the footprint does not grow.
  [[nodiscard]] std::uint64_t fingerprint() const;
  /// Whether a thread came to use a location in a new way since the last call.
  [[nodiscard]] bool footprint_grew() { return std::exchange(footprint_grew_, false); }
  [[nodiscard]] std::vector<std::uint64_t> outcome() const;
  [[nodiscard]] std::string describe_deadlock() const;
  [[nodiscard]] Thread threads() const noexcept { return static_cast<Thread>(runners_.size() - 1); }
  [[nodiscard]] std::optional<Thread> last_thread() const { return last_; }

  struct Trouble {
    Violation violation;
    std::string text;
  };
  [[nodiscard]] const std::optional<Trouble>& trouble() const noexcept { return trouble_; }

  /// From the next begin() on, every step is described.
  void record_steps() { recording_ = true; }
  [[nodiscard]] std::vector<std::string>& steps() { return steps_; }

  // Called on the stacks of the threads.

  /// The engine whose execution is running.
  [[nodiscard]] static Engine& current();
  Place add_location(const void* address, std::uint64_t value) { return memory_.add_location(address, value); }
  Place add_variable(const void* address, std::uint64_t value) { return memory_.add_variable(address, value); }
  Result perform(const Operation& operation);
  std::uint64_t read_variable(Place place);
  void write_variable(Place place, std::uint64_t value);
  void observe(std::uint64_t value);
  /// Does not return when called by a thread; frames of its callers own no memory.
  void fail(Violation violation, std::string text);
  [[nodiscard]] Thread running() const noexcept { return running_; }

 private:
  enum class Phase : std::uint8_t { setting_up, running, ending };
  enum class Status : std::uint8_t { ready, sleeping, ended, stopped };

  struct Runner {
    Engine* engine = nullptr;
    Thread index = 0;
    std::unique_ptr<Stack> stack;
    const std::vector<Act>* acts = nullptr;
    Status status = Status::ready;
    Operation operation{.kind = Kind::pause};
    Result result;
    /// Stands for all the thread has learned in this act, hence for where in its code it is and what its locals hold.
    std::uint64_t history = 0;
    std::vector<std::uint64_t> observed;
    /// What was loaded since the last pause.
    std::vector<std::pair<Place, Stamp>> loaded;
  };

  static void run_acts(void* runner);
  void run(Runner& runner);
  void note_uses(Thread thread, const Operation& operation);
  void record(Violation violation, std::string text);
  Result execute(Thread thread, const Operation& operation, const Transition& transition);
  Result execute_at_once(const Operation& operation);
  void add_transitions(const Runner& runner, std::vector<Transition>& out) const;
  void add_pause_transitions(const Runner& runner, std::vector<Transition>& out) const;
  void complete(Runner& runner, Result result);
  void wake_sleepers(Place place);
  [[nodiscard]] bool has_ended(Thread thread) const;

  [[nodiscard]] const std::string& thread_name(Thread thread) const;
  void give_names();
  void note(Thread thread, const std::string& text);
  void note_step(const Runner& runner, const Transition& transition, const Result& result);

  const MakeScenario& make_scenario_;
  Options options_;
  Scenario scenario_;
  Memory memory_;
  std::vector<Runner> runners_;  // One per thread, and one for the check at the end.
  Phase phase_ = Phase::setting_up;
  Thread running_ = 0;
  std::optional<Thread> last_;
  int spurious_wakeups_ = 0;
  Footprint footprint_;
  bool footprint_grew_ = false;
  std::optional<Trouble> trouble_;
  bool recording_ = false;
  std::vector<std::string> steps_;
};

}  // namespace baton::model
