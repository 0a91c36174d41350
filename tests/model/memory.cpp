#include "memory.hpp"

#include <algorithm>
#include <stdexcept>

namespace baton::model {
namespace {

/// Distance between neighbours in modification order, so that a message fits between two others.
constexpr Stamp kGap = Stamp{1} << 32;

}  // namespace

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
  // The value is spread before it meets the hash: two small numbers must not cancel each other.
  hash ^= (value + 0x9E3779B97F4A7C15U) * 0xBF58476D1CE4E5B9U;
  hash ^= hash >> 29;
  hash *= 0x94D049BB133111EBU;
  return hash ^ (hash >> 32);
}

bool is_acquire(std::memory_order order) noexcept {
  return order == std::memory_order_acquire || order == std::memory_order_consume ||
         order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

bool is_release(std::memory_order order) noexcept {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

bool Footprint::add(Thread thread, Place place, Use use) {
  if (uses_.size() <= thread) uses_.resize(thread + 1);
  if (uses_[thread].size() <= place) uses_[thread].resize(place + 1, 0);
  if ((uses_[thread][place] & use) != 0) return false;
  uses_[thread][place] = static_cast<std::uint8_t>(uses_[thread][place] | use);
  return true;
}

std::uint8_t Footprint::uses(Thread thread, Place place) const {
  return thread < uses_.size() && place < uses_[thread].size() ? uses_[thread][place] : std::uint8_t{0};
}

void View::join(const View& other) {
  for (std::size_t i = 0; i < other.seen.size(); ++i) seen[i] = std::max(seen[i], other.seen[i]);
  for (std::size_t i = 0; i < other.clock.size(); ++i) clock[i] = std::max(clock[i], other.clock[i]);
}

Place Memory::add_location(const void* address, std::uint64_t value) {
  if (!views_.empty()) throw std::logic_error("a scenario makes its atomics before its threads run");
  Location location;
  location.address = address;
  location.order.push_back({.value = value, .stamp = kGap, .released = {}, .taken = false});
  locations_.push_back(std::move(location));
  return static_cast<Place>(locations_.size() - 1);
}

Place Memory::add_variable(const void* address, std::uint64_t value) {
  if (!views_.empty()) throw std::logic_error("a scenario makes its variables before its threads run");
  variables_.push_back({.name = {}, .address = address, .value = value, .read_at = {}});
  return static_cast<Place>(variables_.size() - 1);
}

void Memory::start(Thread threads) {
  const View nothing{std::vector<Stamp>(locations_.size(), 0), std::vector<std::uint64_t>(threads, 0)};
  views_.assign(threads, nothing);
  for (Variable& variable : variables_) variable.read_at.assign(threads, 0);
}

void Memory::clear() {
  locations_.clear();
  variables_.clear();
  views_.clear();
}

std::size_t Memory::index_of(Place place, Stamp at_least) const {
  const auto& order = locations_[place].order;
  std::size_t index = order.size();
  while (index > 0 && order[index - 1].stamp >= at_least) --index;
  return index;
}

std::size_t Memory::oldest_readable(Thread thread, Place place, std::memory_order order) const {
  Stamp bound = views_[thread].seen[place];
  if (order == std::memory_order_seq_cst) bound = std::max(bound, locations_[place].sc_floor);
  return index_of(place, bound);
}

std::size_t Memory::oldest_in_futex(Thread thread, Place place) const {
  return index_of(place, std::max(views_[thread].seen[place], locations_[place].futex_floor));
}

void Memory::tick(Thread thread) { ++views_[thread].clock[thread]; }

std::uint64_t Memory::load(Thread thread, Place place, std::size_t message, std::memory_order order) {
  tick(thread);
  Location& location = locations_[place];
  const Message& read = location.order[message];
  views_[thread].seen[place] = std::max(views_[thread].seen[place], read.stamp);
  if (is_acquire(order)) views_[thread].join(read.released);
  if (order == std::memory_order_seq_cst) location.sc_floor = std::max(location.sc_floor, read.stamp);
  return read.value;
}

Stamp Memory::insert_after(Place place, std::size_t message, std::uint64_t value) {
  auto& order = locations_[place].order;
  Stamp stamp = order[message].stamp + kGap;
  if (message + 1 < order.size()) {
    stamp = order[message].stamp + (order[message + 1].stamp - order[message].stamp) / 2;
    if (stamp == order[message].stamp) throw std::logic_error("too many stores between two others");
  }
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(message) + 1,
               {.value = value, .stamp = stamp, .released = {}, .taken = false});
  return stamp;
}

void Memory::store(Thread thread, Place place, std::size_t message, std::uint64_t value, std::memory_order order) {
  tick(thread);
  const Stamp stamp = insert_after(place, message, value);
  Location& location = locations_[place];
  views_[thread].seen[place] = stamp;
  if (is_release(order)) location.order[message + 1].released = views_[thread];
  if (order == std::memory_order_seq_cst) location.sc_floor = std::max(location.sc_floor, stamp);
}

void Memory::replace(Thread thread, Place place, std::size_t message, std::uint64_t value, std::memory_order order) {
  tick(thread);
  const Stamp stamp = insert_after(place, message, value);
  Location& location = locations_[place];
  Message& before = location.order[message];
  Message& after = location.order[message + 1];
  before.taken = true;
  View& view = views_[thread];
  if (is_acquire(order)) view.join(before.released);
  view.seen[place] = stamp;
  // An acquire of this message also synchronises with the release that heads the sequence.
  after.released = before.released;
  if (is_release(order)) {
    if (after.released.seen.empty()) {
      after.released = view;
    } else {
      after.released.join(view);
    }
  }
  if (order == std::memory_order_seq_cst) location.sc_floor = std::max(location.sc_floor, stamp);
}

void Memory::catch_up(Thread thread, Place place, std::size_t message) {
  Stamp& seen = views_[thread].seen[place];
  seen = std::max(seen, locations_[place].order[message].stamp);
}

void Memory::publish_to_futex(Thread thread, Place place) {
  Location& location = locations_[place];
  location.futex_floor = std::max(location.futex_floor, views_[thread].seen[place]);
}

void Memory::join(Thread thread, Thread ended) {
  // Beyond its last operation the thread may have touched variables.
  tick(ended);
  views_[thread].join(views_[ended]);
}

const char* Memory::read_variable(Thread thread, Place place, std::uint64_t& value) {
  Variable& variable = variables_[place];
  const View& view = views_[thread];
  value = variable.value;
  // Accesses carry the clock of the next operation, which is the first that can release them.
  variable.read_at[thread] = view.clock[thread] + 1;
  if (variable.writer != thread && variable.written_at > view.clock[variable.writer]) return "an unordered write";
  return nullptr;
}

const char* Memory::write_variable(Thread thread, Place place, std::uint64_t value) {
  Variable& variable = variables_[place];
  const View& view = views_[thread];
  const char* race = nullptr;
  if (variable.writer != thread && variable.written_at > view.clock[variable.writer]) race = "an unordered write";
  for (Thread other = 0; other < variable.read_at.size(); ++other) {
    if (other != thread && variable.read_at[other] > view.clock[other]) race = "an unordered read";
  }
  variable.value = value;
  variable.writer = thread;
  variable.written_at = view.clock[thread] + 1;
  std::fill(variable.read_at.begin(), variable.read_at.end(), 0);
  return race;
}

}  // namespace baton::model
