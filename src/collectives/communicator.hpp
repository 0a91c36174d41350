// What a domain keeps for its collectives.
#pragma once

#include <atomic>
#include <functional>
#include <new>
#include <optional>
#include <string>

#include <baton/domain.hpp>
#include <baton/error.hpp>

#include "collectives/host_mover.hpp"
#include "collectives/starter.hpp"

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

  /// Runs `body` in a turn and names the call in what it throws; from then on every call fails with that.
  template <class Body>
  void make(const Domain& domain, const Call& call, Body&& body) {
    try {
      body();
    } catch (const Error& error) {
      give_up(domain, call, error);
    } catch (const std::bad_alloc&) {
      give_up(domain, call, Error(Code::out_of_memory, "nothing is left for what the call needs"));
    }
  }
  /// Throws if an earlier call has failed. In a turn.
  void throw_if_failed(const Domain& domain) const;
  /// Makes the call after those that were started before, in a turn that they have together.
  void start(StartedCall& call, const Domain& domain);

 private:
  void take_turn(const Domain& domain);
  void end_turn() noexcept;
  [[noreturn]] void give_up(const Domain& domain, const Call& call, const Error& error);

  HostMover mover_;
  std::atomic<bool> busy_{false};
  std::optional<Error> failure_;
  /// Ends first.
  Starter starter_;
};

}  // namespace baton::collectives
