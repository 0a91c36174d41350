#include "collectives/communicator.hpp"

#include <fmt/format.h>

namespace baton::collectives {
namespace {

const char kKey = 0;

}  // namespace

Communicator& Communicator::of(const Domain& domain) {
  const auto make = [](Domain borrowed) -> std::unique_ptr<Attachment> {
    return std::make_unique<Communicator>(std::move(borrowed));
  };
  // Nobody else uses the key. NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast)
  return static_cast<Communicator&>(domain.attachment(&kKey, make));
}

Communicator::Turn::Turn(Communicator& communicator, const Domain& domain) : communicator_(communicator) {
  // Pairs with the store in the destructor: the next call sees what this one left.
  if (communicator_.busy_.exchange(true, std::memory_order_acquire)) {
    throw Error(Code::in_flight,
                fmt::format("rank {} began a collective on \"{}\" while another one of it was in flight", domain.rank(),
                            domain.name()));
  }
  if (communicator_.failure_) {
    const Error failure = *communicator_.failure_;
    communicator_.busy_.store(false, std::memory_order_release);
    throw Error(failure.code(),
                fmt::format("an earlier collective on \"{}\" failed: {}", domain.name(), failure.message()),
                failure.notes());
  }
}

Communicator::Turn::~Turn() {
  // Pairs with the exchange in the constructor.
  communicator_.busy_.store(false, std::memory_order_release);
}

}  // namespace baton::collectives
