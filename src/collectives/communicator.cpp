#include "collectives/communicator.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace baton::collectives {
namespace {

const char kKey = 0;

bool spans_hosts(const Domain& domain) {
  return std::any_of(domain.hosts().begin(), domain.hosts().end(), [](int host) { return host != 0; });
}

}  // namespace

Communicator::Communicator(Domain borrowed) {
  if (spans_hosts(borrowed)) {
    hosts_ = std::make_unique<HostsMover>(std::move(borrowed));
  } else {
    mover_.emplace(std::move(borrowed));
  }
}

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
  if (hosts_) {
    hosts_->give_up(error);
  } else if (const std::optional<int> writer = mover_->give_up(error.code())) {
    notes.push_back(fmt::format("rank {} stopped while it wrote to memory of this rank, and may go on later", *writer));
  }
  failure_ = Error(error.code(), fmt::format("{} on \"{}\": {}", describe(call), domain.name(), error.message()),
                   std::move(notes), error.remedy());
  throw Error(*failure_);
}

void Communicator::run_all_to_all_v(const Domain& me, const Request& request, std::span<const std::size_t> send_counts,
                                    std::span<const std::size_t> receive_counts) {
  if (hosts_) return hosts_->run_all_to_all_v(me, request, send_counts, receive_counts);
  collectives::run_all_to_all_v(me, *mover_, *mover_, request, send_counts, receive_counts);
}

void Communicator::send(int to, const ConstData& data, std::uint64_t fingerprint, std::chrono::nanoseconds timeout) {
  const std::size_t bytes = data.count() * size_of(data.element());
  if (hosts_) return hosts_->send(to, data.address(), bytes, fingerprint, timeout);
  mover_->send(to, data.address(), bytes, fingerprint, timeout);
}

void Communicator::receive(int from, const Data& data, std::uint64_t fingerprint, std::chrono::nanoseconds timeout) {
  const std::size_t bytes = data.count() * size_of(data.element());
  if (hosts_) return hosts_->receive(from, data.address(), bytes, fingerprint, timeout);
  mover_->receive(from, data.address(), bytes, fingerprint, timeout);
}

void Communicator::start(StartedCall& call, const Domain& domain) {
  starter_.add(
      call, [&] { take_turn(domain); }, [this] { end_turn(); });
}

}  // namespace baton::collectives
