// Which states of the memory have equal futures.
//
// Only what a live thread can still read counts, and only how things compare: messages are numbered from the oldest
// readable one, clocks by the accesses to plain variables that some live thread does not know of.
#include <algorithm>
#include <limits>

#include "memory.hpp"

namespace baton::model {
namespace {

/// The clocks of one thread's accesses to plain variables that some other live thread does not know of, ascending.
using OpenAccesses = std::vector<std::uint64_t>;

std::uint64_t rank_of(const OpenAccesses& open, std::uint64_t clock) {
  std::uint64_t rank = 0;
  while (rank < open.size() && open[rank] <= clock) ++rank;
  return rank;
}

class Fingerprint {
 public:
  Fingerprint(const std::vector<Location>& locations, const std::vector<Variable>& variables,
              const std::vector<View>& views, const std::vector<Thread>& live, const Footprint& footprint)
      : locations_(locations), variables_(variables), views_(views), live_(live) {
    find_oldest(footprint);
    find_open_accesses();
  }

  std::uint64_t value() {
    for (std::size_t place = 0; place < locations_.size(); ++place) add_location(place);
    for (const Thread thread : live_) add_view(views_[thread]);
    for (const Variable& variable : variables_) add_variable(variable);
    return hash_;
  }

 private:
  void add(std::uint64_t value) { hash_ = mix(hash_, value); }

  void find_oldest(const Footprint& footprint) {
    oldest_.resize(locations_.size());
    for (std::size_t place = 0; place < locations_.size(); ++place) {
      // The check at the end sees the last value of every location.
      oldest_[place] = locations_[place].order.back().stamp;
      for (const Thread thread : live_) {
        const Stamp needed =
            oldest_needed(place, views_[thread].seen[place], footprint.uses(thread, static_cast<Place>(place)));
        oldest_[place] = std::min(oldest_[place], needed);
      }
    }
  }

  /// The oldest message that matters to a thread that has seen `seen` of a location and uses it in these ways.
  Stamp oldest_needed(std::size_t place, Stamp seen, std::uint8_t uses) const {
    const Location& location = locations_[place];
    if ((uses & kLoads) != 0) return seen;
    Stamp oldest = std::numeric_limits<Stamp>::max();
    if ((uses & kLoadsSeqCst) != 0) oldest = std::min(oldest, std::max(seen, location.sc_floor));
    if ((uses & kSleeps) != 0) oldest = std::min(oldest, std::max(seen, location.futex_floor));
    if ((uses & kWrites) != 0) oldest = std::min(oldest, oldest_open(location, seen));
    if ((uses & kWritesSeqCst) != 0)
      oldest = std::min(oldest, oldest_open(location, std::max(seen, location.sc_floor)));
    return oldest;
  }

  /// The oldest message not before `bound` after which something can be stored.
  static Stamp oldest_open(const Location& location, Stamp bound) {
    Stamp oldest = location.order.back().stamp;
    for (std::size_t i = location.order.size(); i > 0 && location.order[i - 1].stamp >= bound; --i) {
      if (!location.order[i - 1].taken) oldest = location.order[i - 1].stamp;
    }
    return oldest;
  }

  void find_open_accesses() {
    open_.resize(views_.size());
    if (variables_.empty()) return;
    for (Thread thread = 0; thread < views_.size(); ++thread) {
      std::uint64_t known = std::numeric_limits<std::uint64_t>::max();
      for (const Thread other : live_) {
        if (other != thread) known = std::min(known, views_[other].clock[thread]);
      }
      OpenAccesses& open = open_[thread];
      for (const Variable& variable : variables_) {
        if (variable.writer == thread && variable.written_at > known) open.push_back(variable.written_at);
        if (variable.read_at[thread] > known) open.push_back(variable.read_at[thread]);
      }
      std::sort(open.begin(), open.end());
      open.erase(std::unique(open.begin(), open.end()), open.end());
    }
  }

  /// How many messages that can still be read are older than `stamp`.
  std::uint64_t number_of(std::size_t place, Stamp stamp) const {
    std::uint64_t number = 0;
    const auto& order = locations_[place].order;
    for (std::size_t i = order.size(); i > 0 && order[i - 1].stamp >= oldest_[place]; --i) {
      if (order[i - 1].stamp < stamp) ++number;
    }
    return number;
  }

  void add_view(const View& view) {
    for (std::size_t place = 0; place < view.seen.size(); ++place) add(number_of(place, view.seen[place]));
    if (variables_.empty()) return;
    for (std::size_t thread = 0; thread < view.clock.size(); ++thread) add(rank_of(open_[thread], view.clock[thread]));
  }

  void add_location(std::size_t place) {
    const Location& location = locations_[place];
    add(number_of(place, location.sc_floor));
    add(number_of(place, location.futex_floor));
    for (std::size_t i = location.order.size(); i > 0 && location.order[i - 1].stamp >= oldest_[place]; --i) {
      const Message& message = location.order[i - 1];
      add(message.value);
      add((message.taken ? 1U : 0U) + (message.released.seen.empty() ? 2U : 0U));
      add_view(message.released);
    }
    add(kEndOfList);
  }

  void add_variable(const Variable& variable) {
    add(variable.value);
    const OpenAccesses& open = open_[variable.writer];
    const bool is_open = std::binary_search(open.begin(), open.end(), variable.written_at);
    add(is_open ? variable.writer + 1 : 0);
    add(is_open ? rank_of(open, variable.written_at) : 0);
    for (std::size_t thread = 0; thread < variable.read_at.size(); ++thread) {
      const bool read_open = std::binary_search(open_[thread].begin(), open_[thread].end(), variable.read_at[thread]);
      add(read_open ? rank_of(open_[thread], variable.read_at[thread]) : 0);
    }
  }

  static constexpr std::uint64_t kEndOfList = 0xE0D;

  const std::vector<Location>& locations_;
  const std::vector<Variable>& variables_;
  const std::vector<View>& views_;
  const std::vector<Thread>& live_;
  std::vector<Stamp> oldest_;
  std::vector<OpenAccesses> open_;
  std::uint64_t hash_ = 0;
};

}  // namespace

std::uint64_t Memory::fingerprint(const std::vector<Thread>& live, const Footprint& footprint) const {
  return Fingerprint(locations_, variables_, views_, live, footprint).value();
}

}  // namespace baton::model
