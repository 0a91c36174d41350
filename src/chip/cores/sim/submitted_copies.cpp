#include "chip/cores/sim/submitted_copies.hpp"

#include <algorithm>

namespace baton::chip {

void SubmittedCopies::add(std::shared_ptr<const OperationRecord> record, std::uint64_t session,
                          const BatonPlace& place) {
  const std::uint64_t address = record->address();
  copies_[address] = {std::move(record), place, session, copies_.size()};
}

SubmittedCopy* SubmittedCopies::find(std::uint64_t address) {
  const auto found = copies_.find(address);
  return found == copies_.end() ? nullptr : &found->second;
}

void SubmittedCopies::take_care(const SubmittedCopy& copy, SubmittedCopy::Care care) {
  for (auto& [address, other] : copies_) {
    const bool covered = other.session == copy.session && other.number <= copy.number;
    if (covered && other.care != SubmittedCopy::Care::awaited) other.care = care;
  }
}

std::uint32_t SubmittedCopies::open_in(std::uint64_t session) const {
  return static_cast<std::uint32_t>(std::ranges::count_if(copies_, [session](const auto& entry) {
    return entry.second.session == session && entry.second.care != SubmittedCopy::Care::awaited;
  }));
}

const SubmittedCopy* SubmittedCopies::left_open() const {
  const SubmittedCopy* first = nullptr;
  for (const auto& [address, copy] : copies_) {
    if (copy.care == SubmittedCopy::Care::none && (first == nullptr || copy.number < first->number)) first = &copy;
  }
  return first;
}

}  // namespace baton::chip
