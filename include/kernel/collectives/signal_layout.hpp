// What lies where among the signals of a member.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <cstdint>

namespace baton::collectives {

/// Signals of a rank of `ranks`. The first lines are written by this rank alone; others read some of them. Those behind
/// `arrivals` are counters that only grow: others add to them, and this rank waits for them.
struct SignalLayout {
  static constexpr int kMeetingsMade = 0;
  static constexpr int kStepsMade = 1;
  static constexpr int kCallsMade = 2;
  static constexpr int kVerdict = 4;   // what this rank found out, if it did: 4 words (records.hpp)
  static constexpr int kMessage = 16;  // the message that this rank waits for: 8 words
  static constexpr int kPlaces = 24;   // the windows that its last calls named: a word each
  static constexpr int kRecords = 32;  // its last calls: 4 words each
  static constexpr int kRecordCount = 8;
  static constexpr int kReceived = kRecords + 4 * kRecordCount;  // by member: the pieces of its messages taken here

  int sent;           // by member: the pieces of messages that this rank has shown to it
  int told;           // by member: the steps that this rank has told it
  int messages_from;  // by member: whole messages
  int messages_to;    // by member; the last of the own lines
  int arrivals;       // how often members have arrived at meetings
  int judge;          // 0, or 1 + the rank that found out why nobody can go on here
  int steps;          // by member: the steps it has told this rank
  int posted;         // by member: the pieces of messages that it has shown to this rank
  int taken;          // by member: the pieces of this rank's messages that it has taken
  int count;          // of all of them

  AICORE constexpr explicit SignalLayout(int ranks)
      : sent(kReceived + ranks),
        told(sent + ranks),
        messages_from(told + ranks),
        messages_to(messages_from + ranks),
        arrivals(whole_lines(messages_to + ranks)),
        judge(arrivals + 1),
        steps(judge + 1),
        posted(steps + ranks),
        taken(posted + ranks),
        count(whole_lines(taken + ranks)) {}

 private:
  AICORE static constexpr int whole_lines(int signals) { return (signals + 15) / 16 * 16; }
};

/// A counter that has this much counts no more: somebody has ended all waits. Counts stay below it.
inline constexpr int32_t kBroken = int32_t{1} << 30;

/// How many signals a rank of `ranks` needs, for each block of a kernel.
[[nodiscard]] AICORE constexpr int signals_needed(int ranks) { return SignalLayout(ranks).count; }

}  // namespace baton::collectives
