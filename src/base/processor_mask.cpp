#include "base/processor_mask.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include <baton/options.hpp>

#include "base/cgroup.hpp"

namespace baton {

ProcessorMask& ProcessorMask::operator|=(const ProcessorMask& other) noexcept {
  for (std::size_t i = 0; i < words.size(); ++i) words[i] |= other.words[i];
  return *this;
}

int ProcessorMask::count() const noexcept {
  int bits = 0;
  for (const std::uint64_t word : words) bits += std::popcount(word);
  return bits;
}

ProcessorMask ProcessorMask::share(int part, int parts) const {
  const int all = count();
  if (all == 0) return {};
  const int first = parts <= all ? static_cast<int>(std::int64_t{part} * all / parts) : part % all;
  const int end = parts <= all ? static_cast<int>((std::int64_t{part} + 1) * all / parts) : first + 1;
  ProcessorMask result;
  int number = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (std::uint64_t rest = words[i]; rest != 0; rest &= rest - 1) {
      const bool taken = number >= first && number < end;
      if (taken) result.words[i] |= rest & -rest;
      ++number;
    }
  }
  return result;
}

ProcessorMask allowed_processors() {
  ProcessorMask mask;
  // The kernel refuses a mask that is shorter than its own.
  for (std::size_t bytes = sizeof mask.words; bytes <= std::size_t{128} * 1024; bytes *= 2) {
    std::vector<std::uint64_t> words(bytes / sizeof(std::uint64_t));
    if (::sched_getaffinity(0, bytes, reinterpret_cast<cpu_set_t*>(words.data())) != 0) continue;
    std::copy_n(words.begin(), mask.words.size(), mask.words.begin());
    break;
  }
  return mask;
}

bool stay_on(const ProcessorMask& processors) noexcept {
  return ::sched_setaffinity(0, sizeof processors.words, reinterpret_cast<const cpu_set_t*>(processors.words.data())) ==
         0;
}

int usable_processors(const ProcessorMask& mask) {
  if (options().processors) return *options().processors;
  const int allowed = mask.count();
  return std::max(1, std::min(allowed, cgroup_processor_limit({}).value_or(allowed)));
}

}  // namespace baton
