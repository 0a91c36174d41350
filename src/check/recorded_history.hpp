// From the events of a trace to a history for the race finder.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/trace_reader.hpp"
#include "check/actors.hpp"
#include "check/names.hpp"
#include "check/race_finder.hpp"

namespace baton::check {

class RecordedHistory {
 public:
  /// Both outlive it.
  RecordedHistory(const TraceReader& trace, RaceFinder& finder) : trace_(trace), finder_(finder) {}

  /// What it needs of a trace.
  [[nodiscard]] static bool wants(const EventRecord& event) noexcept;

  /// In the order of their times: no event is before one that it came after (base/check_clock.hpp).
  void add(const EventRecord& recorded, std::uint32_t process);
  void finish() { finder_.finish(); }

  [[nodiscard]] const Names& names() const noexcept { return names_; }
  [[nodiscard]] const Actors& actors() const noexcept { return actors_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  [[nodiscard]] std::uint64_t accesses() const noexcept { return accesses_; }

 private:
  /// A task of a chip.
  struct TaskKey {
    std::uint64_t chip;
    std::uint64_t task;
    friend bool operator==(const TaskKey&, const TaskKey&) = default;
  };
  struct HashTask {
    std::size_t operator()(const TaskKey& key) const noexcept { return mix(key.chip, key.task); }
  };

  /// What a task waits for.
  struct Edges {
    std::vector<std::uint64_t> earlier;
    bool were_used = false;  // the task has begun
  };

  [[nodiscard]] Event access_of(const EventRecord& recorded, std::uint32_t process);
  [[nodiscard]] std::string text_of(std::uint32_t process, TextId id) const;
  [[nodiscard]] std::uint32_t place_of(std::uint32_t process, TextId id);
  [[nodiscard]] Actor actor_of(const EventRecord& recorded, std::uint32_t process);
  void begin_task(const EventRecord& begun, std::uint32_t process);
  void receive(Actor actor, std::uint64_t token);
  void give(const Event& event);

  /// An actor that was found lately.
  struct Program {
    bool is_known = false;
    std::uint32_t process = 0;
    std::uint32_t rank = 0;
    Actor actor = 0;
  };

  const TraceReader& trace_;
  RaceFinder& finder_;
  Names names_;
  std::vector<std::vector<std::optional<std::uint32_t>>> places_;  // by process and the number of its text
  Actors actors_;
  std::array<Program, 64> programs_{};
  std::unordered_map<TaskKey, Edges, HashTask> edges_;
  std::unordered_map<std::uint64_t, std::uint64_t> chips_;  // by the token of all their tasks
  std::uint64_t events_ = 0;
  std::uint64_t accesses_ = 0;
};

}  // namespace baton::check
