// What a race detector knows of a program: who touched which bytes, and what put these events in an order.
//
// A history is one run that happened, in an order in which it could have happened. Everything that orders is one of
// two things: somebody hands a token over, and who takes it comes after all who handed it over (barriers, edges of
// tasks, copies and their events, starts and ends of runs); or somebody changes a word, and its waiter comes
// after whatever every way to satisfy the wait has in common (signals, words that only grow).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <baton/signal.hpp>

namespace baton::check {

/// What executes events one after the other: a rank, a block of a task, a session of an engine.
using Actor = std::uint32_t;
/// The number of an event among those of its actor, from 1 on. 0: before all of them.
using Time = std::uint32_t;

enum class Kind : std::uint8_t {
  access,   // touches bytes
  change,   // a notify: adds to a word, or sets it
  wait,     // the word compared so: a wait that has returned, or a test that held
  hand,     // gives a token
  receive,  // has every giver of the token behind it
  fresh,    // gets bytes that nobody uses any more: what was done with them is forgotten
};

enum class Use : std::uint8_t {
  read,
  write,
  atomic,  // in conflict with reads and writes, but not with its like
};

struct Event {
  Kind kind = Kind::access;
  Use use = Use::read;
  NotifyOp op = NotifyOp::add;
  WaitCmp comparison = WaitCmp::ge;
  Actor actor = 0;
  /// Where it stands in the program, as the owner of the history counts places.
  std::uint32_t place = 0;
  /// Which memory: a part of a window, a tensor, a buffer. Of a token: which one.
  std::uint64_t subject = 0;
  /// Bytes [begin, end) of the memory; of a change or a wait, those of the word.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  /// Of an access: `rows` runs of bytes like this one, each `pitch` behind the one before.
  std::uint32_t rows = 1;
  std::uint64_t pitch = 0;
  std::int64_t value = 0;
};

/// In an order in which the run could have happened: no event is before one that it needed.
using History = std::vector<Event>;

/// Two accesses to the same bytes that nothing orders, one of them a write.
struct Race {
  Event first;
  Event second;
  Time first_time = 0;
  Time second_time = 0;
  /// The bytes that both touch.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

}  // namespace baton::check
