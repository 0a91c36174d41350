// The memory of a scenario: atomics with the weak behaviour that C++ allows, and plain variables with race detection.
//
// Every location keeps all values ever stored to it, in modification order, as messages. Every thread has a view: for
// each location the oldest message that it may still read. Release attaches the view of the writer to the message,
// acquire joins it to the view of the reader. docs/explanation/model-checking.md states the rules and their limits.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace baton::model {

using Place = std::uint32_t;
using Thread = std::uint32_t;
/// A point in the modification order of one location; 0 is before all.
using Stamp = std::uint64_t;

/// In which ways a thread uses a location, as far as seen: bits.
enum Use : std::uint8_t { kLoads = 1, kLoadsSeqCst = 2, kSleeps = 4, kWrites = 8, kWritesSeqCst = 16, kSpins = 32 };

/// Which thread uses which location how, in any execution so far.
class Footprint {
 public:
  /// True if this use is new.
  bool add(Thread thread, Place place, Use use);
  [[nodiscard]] std::uint8_t uses(Thread thread, Place place) const;

 private:
  std::vector<std::vector<std::uint8_t>> uses_;
};

/// What is known of every location (a stamp) and of every thread (how far it had come: a vector clock).
struct View {
  std::vector<Stamp> seen;
  std::vector<std::uint64_t> clock;

  void join(const View& other);
};

struct Message {
  std::uint64_t value;
  Stamp stamp;
  /// What is learned by acquiring this message. Empty after a relaxed store.
  View released;
  /// A read-modify-write follows directly; nothing can be stored between.
  bool taken = false;
};

struct Location {
  std::string name;
  const void* address;
  std::vector<Message> order;
  /// The newest message that a sequentially consistent operation wrote or read: later ones read nothing older.
  Stamp sc_floor = 0;
  /// The newest message that anybody who woke sleepers here knew: later futex waits compare with nothing older.
  Stamp futex_floor = 0;
};

/// A plain variable: who wrote last, who read since, each with its clock at that time.
struct Variable {
  std::string name;
  const void* address;
  std::uint64_t value;
  Thread writer = 0;
  std::uint64_t written_at = 0;
  std::vector<std::uint64_t> read_at;
};

[[nodiscard]] bool is_acquire(std::memory_order order) noexcept;
[[nodiscard]] bool is_release(std::memory_order order) noexcept;

class Memory {
 public:
  Place add_location(const void* address, std::uint64_t value);
  Place add_variable(const void* address, std::uint64_t value);

  /// After all locations and variables were added.
  void start(Thread threads);
  void clear();

  [[nodiscard]] Location& location(Place place) { return locations_[place]; }
  [[nodiscard]] const Location& location(Place place) const { return locations_[place]; }
  [[nodiscard]] Variable& variable(Place place) { return variables_[place]; }
  [[nodiscard]] std::size_t locations() const noexcept { return locations_.size(); }
  [[nodiscard]] std::size_t variables() const noexcept { return variables_.size(); }
  [[nodiscard]] Stamp seen(Thread thread, Place place) const { return views_[thread].seen[place]; }

  /// Index of the oldest message that `thread` may read with `order`. Every newer one it may read too.
  [[nodiscard]] std::size_t oldest_readable(Thread thread, Place place, std::memory_order order) const;
  [[nodiscard]] std::size_t oldest_in_futex(Thread thread, Place place) const;
  [[nodiscard]] std::size_t index_of(Place place, Stamp at_least) const;

  std::uint64_t load(Thread thread, Place place, std::size_t message, std::memory_order order);
  /// Stores directly after `message`, which must not be taken.
  void store(Thread thread, Place place, std::size_t message, std::uint64_t value, std::memory_order order);
  /// Reads `message` and stores `value` directly after it.
  void replace(Thread thread, Place place, std::size_t message, std::uint64_t value, std::memory_order order);
  /// The thread will read nothing older than `message`, without acquiring it.
  void catch_up(Thread thread, Place place, std::size_t message);
  void publish_to_futex(Thread thread, Place place);
  /// `thread` learns all that `ended` knew.
  void join(Thread thread, Thread ended);

  /// Null, or what this access races with.
  [[nodiscard]] const char* read_variable(Thread thread, Place place, std::uint64_t& value);
  [[nodiscard]] const char* write_variable(Thread thread, Place place, std::uint64_t value);

  /// A number that is equal for states with equal futures. Threads that are not in `live` do nothing any more; the
  /// others use locations only as in `footprint`.
  [[nodiscard]] std::uint64_t fingerprint(const std::vector<Thread>& live, const Footprint& footprint) const;

 private:
  Stamp insert_after(Place place, std::size_t message, std::uint64_t value);
  void tick(Thread thread);

  std::vector<Location> locations_;
  std::vector<Variable> variables_;
  std::vector<View> views_;
};

/// Mixes `value` into `hash`.
[[nodiscard]] std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept;

}  // namespace baton::model
