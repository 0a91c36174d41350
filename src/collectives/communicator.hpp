// What a domain keeps for its collectives.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>

#include <baton/domain.hpp>
#include <baton/error.hpp>

#include "collectives/host_mover.hpp"
#include "collectives/hosts/hosts_mover.hpp"
#include "collectives/run.hpp"
#include "collectives/starter.hpp"

namespace baton::collectives {

class Communicator final : public Attachment {
 public:
  explicit Communicator(Domain borrowed);

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

  /// These make a call in a turn, on one host or over several.
  void run(const Domain& me, const Request& request) {
    if (mover_) [[likely]]
      return collectives::run(me, *mover_, *mover_, request);
    hosts_->run(me, request);
  }
  void run_all_to_all_v(const Domain& me, const Request& request, std::span<const std::size_t> send_counts,
                        std::span<const std::size_t> receive_counts);
  void send(int to, const ConstData& data, std::uint64_t fingerprint, std::chrono::nanoseconds timeout);
  void receive(int from, const Data& data, std::uint64_t fingerprint, std::chrono::nanoseconds timeout);

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

  /// One of the two.
  std::optional<HostMover> mover_;
  std::unique_ptr<HostsMover> hosts_;
  std::atomic<bool> busy_{false};
  std::optional<Error> failure_;
  /// Ends first.
  Starter starter_;
};

}  // namespace baton::collectives
