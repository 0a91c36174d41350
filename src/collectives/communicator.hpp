// What a domain keeps for its collectives.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include <baton/domain.hpp>
#include <baton/error.hpp>

#include "collectives/host_mover.hpp"

namespace baton::collectives {

class Communicator final : public Attachment {
 public:
  explicit Communicator(Domain borrowed) : mover_(std::move(borrowed)) {}

  /// That of `domain`; the first call makes it and is collective.
  [[nodiscard]] static Communicator& of(const Domain& domain);

  /// Held during a call. Fails if another call of this rank is in flight, or if an earlier one has failed: after that
  /// the ranks no longer agree on where they are.
  class Turn {
   public:
    Turn(Communicator& communicator, const Domain& domain);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn();

   private:
    Communicator& communicator_;
  };

  [[nodiscard]] HostMover& mover() noexcept { return mover_; }
  /// From here on every call fails with this.
  void give_up(const Error& error) { failure_ = error; }

 private:
  HostMover mover_;
  std::atomic<bool> busy_{false};
  std::optional<Error> failure_;
};

}  // namespace baton::collectives
