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
  communicator_.take_turn(domain);
  try {
    communicator_.throw_if_failed(domain);
  } catch (...) {
    communicator_.end_turn();
    throw;
  }
}

Communicator::Turn::~Turn() { communicator_.end_turn(); }

void Communicator::take_turn(const Domain& domain) {
  // Pairs with the store in end_turn(): the next call sees what this one left.
  if (busy_.exchange(true, std::memory_order_acquire)) {
    throw Error(Code::in_flight,
                fmt::format("rank {} began a collective on \"{}\" while another one of it was in flight", domain.rank(),
                            domain.name()));
  }
}

void Communicator::end_turn() noexcept {
  // Pairs with the exchange in take_turn().
  busy_.store(false, std::memory_order_release);
}

void Communicator::throw_if_failed(const Domain& domain) const {
  if (!failure_) return;
  throw Error(failure_->code(),
              fmt::format("an earlier collective on \"{}\" failed: {}", domain.name(), failure_->message()),
              failure_->notes(), failure_->remedy());
}

void Communicator::give_up(const Domain& domain, const Call& call, const Error& error) {
  std::vector<std::string> notes = error.notes();
  if (const std::optional<int> writer = mover_.give_up(error.code())) {
    notes.push_back(fmt::format("rank {} stopped while it wrote to memory of this rank, and may go on later", *writer));
  }
  failure_ = Error(error.code(), fmt::format("{} on \"{}\": {}", describe(call), domain.name(), error.message()),
                   std::move(notes), error.remedy());
  throw Error(*failure_);
}

void Communicator::start(StartedCall& call, const Domain& domain) {
  starter_.add(
      call, [&] { take_turn(domain); }, [this] { end_turn(); });
}

}  // namespace baton::collectives
