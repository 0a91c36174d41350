#include "chip/cores/sim/order_checker.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "chip/cores/sim/byte_runs.hpp"

namespace baton::chip {
namespace {

bool is_before(const Stamp& stamp, const PipeClock& now) { return stamp.time == 0 || now[stamp.pipe] >= stamp.time; }

bool overlap(ByteRange a, ByteRange b) { return a.begin < b.end && b.begin < a.end; }

ByteRange range_at(const void* address, std::uint64_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  return {begin, begin + bytes};
}

}  // namespace

OrderChecker::OrderChecker(const BatonBuffer (&buffers)[BATON_CORE_BUFFERS], BufferSet set, const GlobalMemory& memory)
    : buffers_(buffers),
      memory_(memory),
      pipes_(set == BufferSet::vector ? kernel::kVectorPipes : kernel::kCubePipes) {}

std::uint32_t OrderChecker::number_of(const BatonPlace& place) {
  const auto [at, added] = place_numbers_.try_emplace({place.instruction, place.file, place.line},
                                                      static_cast<std::uint32_t>(places_.size()));
  if (added) places_.push_back(place);
  return at->second;
}

std::optional<std::string> OrderChecker::issue(const BatonIssue& issue) {
  const PipeClock now = order_.issue(issue.pipes);
  const std::uint32_t first = kernel::first_pipe(issue.pipes);
  const Stamp stamp{now[first], first, issue.pipes, number_of(*issue.place)};

  std::optional<std::string> wrong;
  const auto touch_all = [&](const auto& range, bool global) {
    return for_each_run(range, [&](ByteRange run) {
      if (global && !copies_.empty()) wrong = against_copies(run, range.access);
      if (!wrong) wrong = touch(run, range.access, stamp, now);
      return !wrong;
    });
  };
  for (std::uint32_t i = 0; i < issue.tile_count; ++i) {
    if (!touch_all(issue.tiles[i], false)) return wrong;
  }
  for (std::uint32_t i = 0; i < issue.global_count; ++i) {
    const BatonGlobalRange& range = issue.globals[i];
    if (!touch_all(range, true)) return wrong;
    if ((range.access & BATON_WRITES) == 0) continue;
    last_write_[first] = {stamp, range.address};
    if (memory_.holder_of(range.address) != Holder::chip) last_window_write_[first] = {stamp, range.address};
  }
  forget_what_is_over();
  return std::nullopt;
}

std::optional<std::string> OrderChecker::touch(ByteRange run, std::uint32_t access, const Stamp& by,
                                               const PipeClock& now) {
  const Touch second = (access & BATON_WRITES) != 0 ? Touch::write : Touch::read;
  std::optional<std::string> wrong;
  accesses_.update(run, [&](ByteRange bytes, Accesses& accesses) {
    if (wrong) return;
    if (!is_before(accesses.write, now)) wrong = conflict(bytes, second, by.pipes, accesses.write, Touch::write);
    if (second == Touch::read) {
      accesses.reads[by.pipe] = by;
      return;
    }
    for (Stamp& read : accesses.reads) {
      if (!wrong && !is_before(read, now)) wrong = conflict(bytes, second, by.pipes, read, Touch::read);
      read = {};
    }
    accesses.write = by;
  });
  return wrong;
}

void OrderChecker::set_flag(std::uint32_t producer, std::uint32_t consumer, std::int32_t id) {
  order_.set_flag(producer, consumer, id);
}

void OrderChecker::wait_flag(std::uint32_t producer, std::uint32_t consumer, std::int32_t id) {
  order_.wait_flag(producer, consumer, id);
}

void OrderChecker::barrier(std::uint32_t pipe) {
  if (pipe != kernel::kAllPipes) return;  // a pipe is in order by itself
  order_.barrier();
  // All that happened is before all that will.
  accesses_.clear();
}

void OrderChecker::forget_what_is_over() {
  if (accesses_.size() < size_to_tidy_) return;
  accesses_.forget([&](const Stamp& stamp) { return order_.is_over(stamp.pipe, stamp.time, pipes_); });
  size_to_tidy_ = std::max(kLeastToTidy, 2 * accesses_.size());
}

std::optional<std::string> OrderChecker::submit(const BatonCopy& copy, std::uint64_t record, const BatonPlace& place) {
  const OpenCopy open{copy.session, record, range_at(copy.source, copy.bytes), range_at(copy.destination, copy.bytes),
                      number_of(place)};
  if (auto wrong = against_instructions(open.source, Touch::read)) return wrong;
  if (auto wrong = against_instructions(open.destination, Touch::write)) return wrong;
  for (const OpenCopy& other : copies_) {
    if (other.session == open.session) continue;
    if (overlap(other.destination, open.source) || overlap(other.destination, open.destination) ||
        overlap(other.source, open.destination)) {
      return fmt::format(
          "it conflicts with {}, which is on another session and not awaited: copies of two sessions "
          "are carried out in any order",
          describe_place(&places_[other.place]));
    }
  }
  copies_.push_back(open);
  return std::nullopt;
}

void OrderChecker::awaited(std::uint64_t record) {
  const auto at = std::ranges::find(copies_, record, &OpenCopy::record);
  if (at == copies_.end()) return;
  const std::uint64_t session = at->session;
  const auto kept = std::remove_if(copies_.begin(), std::next(at),
                                   [session](const OpenCopy& copy) { return copy.session == session; });
  copies_.erase(kept, std::next(at));
}

std::optional<std::string> OrderChecker::against_copies(ByteRange run, std::uint32_t access) {
  for (const OpenCopy& copy : copies_) {
    const bool writes = (access & BATON_WRITES) != 0;
    const bool in_destination = overlap(run, copy.destination);
    if (!in_destination && !(writes && overlap(run, copy.source))) continue;
    return fmt::format("it {} {}, which {} may still {}: wait for its event first", writes ? "writes" : "reads",
                       describe_bytes(run), describe_place(&places_[copy.place]), in_destination ? "write" : "read");
  }
  return std::nullopt;
}

std::optional<std::string> OrderChecker::against_instructions(ByteRange run, Touch access) {
  const PipeClock& now = order_.clock(kernel::kScalarPipe);
  std::optional<std::string> wrong;
  accesses_.look(run, [&](ByteRange bytes, const Accesses& accesses) {
    const auto check = [&](const Stamp& stamp, Touch first) {
      if (!wrong && !is_before(stamp, now)) wrong = conflict(bytes, access, 1U << kernel::kScalarPipe, stamp, first);
    };
    check(accesses.write, Touch::write);
    if (access == Touch::write) {
      for (const Stamp& read : accesses.reads) check(read, Touch::read);
    }
  });
  return wrong;
}

std::optional<std::string> OrderChecker::notify(const std::int32_t* signal) {
  // A core that observes a signal of this chip runs on this chip and sees its buffers too.
  const bool by_peers = memory_.holder_of(signal) != Holder::chip;
  for (const GlobalWrite& write : by_peers ? last_window_write_ : last_write_) {
    if (auto wrong = overtaken(write)) return wrong;
  }
  for (const OpenCopy& copy : copies_) {
    if (by_peers && memory_.holder_of(reinterpret_cast<const void*>(copy.destination.begin)) == Holder::chip) continue;
    return fmt::format("it overtakes {}, which nobody awaited: wait for its event first, or attach the signal to it",
                       describe_place(&places_[copy.place]));
  }
  return std::nullopt;
}

void OrderChecker::clear() {
  order_.clear();
  accesses_.clear();
  size_to_tidy_ = kLeastToTidy;
  last_write_ = {};
  last_window_write_ = {};
  copies_.clear();
  places_.clear();
  place_numbers_.clear();
}

}  // namespace baton::chip
