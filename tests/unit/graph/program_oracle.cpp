#include "program_oracle.hpp"

namespace baton::test {

using graph::TaskId;
using graph::Use;

void ProgramOracle::begin_task() { live_.set(++task_); }

void ProgramOracle::access(const Tensor& tensor, Use access) {
  Tasks edges;
  map_.record(
      graph::view_of(tensor), access, task_, [&](TaskId task) { return live_.test(task); },
      [&](TaskId task) { edges.set(task); });
  direct_[task_] |= edges;
  before_[task_] |= edges;
  for (TaskId task = 1; task < task_; ++task) {
    if (edges.test(task)) before_[task_] |= before_[task];
  }

  Tasks needed;
  Tasks conflicting;
  for_each_byte(tensor, [&](std::uint64_t address) {
    Byte& byte = byte_at(tensor.buffer().space, address);
    needed.set(byte.writer);
    conflicting |= byte.all_writers;
    if (access == Use::read) {
      byte.readers.set(task_);
      byte.all_readers.set(task_);
      return;
    }
    needed |= byte.readers;
    conflicting |= byte.all_readers;
    byte.readers.reset();
    byte.writer = task_;
    byte.all_writers.set(task_);
  });
  needed.reset(task_);
  needed &= live_;
  missing_ += (needed & ~before_[task_]).count();
  unjustified_ += (edges & ~conflicting).count();
  found_ += edges.count();
}

void ProgramOracle::complete_some(Random& random) {
  for (TaskId task = 1; task <= task_; ++task) {
    if (live_.test(task) && (direct_[task] & live_).none() && pick(random, 0, 2) == 0) live_.reset(task);
  }
  while (oldest_live_ <= task_ && !live_.test(oldest_live_)) ++oldest_live_;
  if (pick(random, 0, 1) == 0) map_.forget_before(oldest_live_);
}

void ProgramOracle::forget_memory(const Buffer& range) {
  for (std::uint64_t address = range.address; address < range.address + range.bytes; ++address) {
    byte_at(range.space, address).writer = 0;
    byte_at(range.space, address).readers.reset();
  }
}

ProgramOracle::Byte& ProgramOracle::byte_at(MemorySpace space, std::uint64_t address) {
  std::vector<Byte>& bytes = bytes_.at(static_cast<std::size_t>(space));
  if (bytes.size() <= address) bytes.resize(2 * address);
  return bytes[address];
}

}  // namespace baton::test
