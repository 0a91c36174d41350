// Whether there is a moment at which all ranks of a job wait and none of their threads can run, found by reading one
// after the other while they may go on.
//
// Threads hand over to each other: while one is looked at, another may still run, wake the first and fall asleep before
// it is looked at itself. So threads are looked at twice. Those that slept both times and were never switched in
// between slept all the time, each of them from before the end of the first look until after the beginning of the
// second: at any moment between the two all sleep. What the ranks wait for is read there, so that it is what they wait
// for at that moment.
//
//   threads ──> the waits of all ranks ──> threads again
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace baton::comm {

enum class Found : std::uint8_t {
  still,   // all sleep, at one moment
  uneasy,  // all wait, but a thread runs or has run: one that was woken, or that does something beside the waits
  lively,  // a rank does not wait, or not for long: it looks for itself when it does
};

template <class Waits>
struct StillnessLook {
  Found found = Found::lively;
  Waits waits{};  // if all sleep
};

/// Job supplies what it shows: waits(), those of all ranks, or nothing if one of them is lively; sleepers(), all
/// threads but the calling one with how often each was switched, or nothing if one of them does not sleep. A thread
/// sleeps from its decision on until it is woken, also if it gets no processor then. The model checker has a job of its
/// own.
template <class Job>
[[nodiscard]] auto look_for_stillness(Job& job) -> StillnessLook<typename decltype(job.waits())::value_type> {
  // Without the threads it costs little, and mostly it is the answer.
  if (!job.waits()) return {Found::lively, {}};
  const auto before = job.sleepers();
  if (!before) return {Found::uneasy, {}};
  auto waits = job.waits();
  if (!waits) return {Found::lively, {}};
  if (job.sleepers() != before) return {Found::uneasy, {}};
  return {Found::still, *std::move(waits)};
}

}  // namespace baton::comm
