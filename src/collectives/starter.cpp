#include "collectives/starter.hpp"

#include "base/fiber.hpp"
#include "base/service_thread.hpp"

namespace baton::collectives {
namespace {

ParkingPlace place_at(Doorbell& bell, Crowding crowding) { return {&bell, FutexScope::process, crowding}; }

}  // namespace

void StartedCall::wait() const {
  if (!ended()) starter_->wait(*this);
}

Starter::~Starter() {
  if (!thread_.joinable()) return;
  // Pairs with the load in serve().
  stopped_.store(true, std::memory_order_seq_cst);
  bell_.ring(FutexScope::process);
  thread_.join();
}

void Starter::add(StartedCall& call, const std::function<void()>& begin, std::function<void()> end) {
  const std::lock_guard lock(mutex_);
  // What may fail comes first.
  if (!busy_ && !on_fiber() && !thread_.joinable()) thread_ = start_thread([this] { serve(); });
  if (!busy_) begin();
  call.starter_ = this;
  waiting_.push_back(&call);
  if (busy_) return;
  busy_ = true;
  end_ = std::move(end);
  if (on_fiber()) return spawn_fiber([this] { run_all(); });
  // Pairs with the exchange in serve().
  wanted_.store(true, std::memory_order_seq_cst);
  bell_.ring(FutexScope::process);
}

void Starter::wait(const StartedCall& call) {
  // The call gives up by itself: each of its waits has a deadline.
  static_cast<void>(wait_until(
      place_at(bell_, Crowding::crowded), [&] { return call.ended(); }, Deadline::never(), [] {}));
}

void Starter::serve() {
  while (true) {
    // Pairs with the stores in add() and in the destructor.
    const auto called = [&] {
      return wanted_.load(std::memory_order_seq_cst) || stopped_.load(std::memory_order_seq_cst);
    };
    static_cast<void>(wait_until(place_at(bell_, Crowding::packed), called, Deadline::never(), [] {}));
    if (stopped_.load(std::memory_order_seq_cst)) return;
    if (wanted_.exchange(false, std::memory_order_seq_cst)) run_all();
  }
}

void Starter::run_all() {
  bool last = false;
  while (!last) {
    StartedCall* call = nullptr;
    {
      const std::lock_guard lock(mutex_);
      call = waiting_.front();
      waiting_.pop_front();
    }
    run(*call);
    {
      // Before the call counts as ended: its rank may make another one at once.
      const std::lock_guard lock(mutex_);
      last = waiting_.empty();
      if (last) {
        end_();
        busy_ = false;
      }
    }
    // Pairs with the load in StartedCall::ended(). From here on the call may be gone; with the last one, so may
    // everything that does not wait for this thread, as the destructor does.
    call->ended_.store(true, std::memory_order_seq_cst);
    bell_.ring(FutexScope::process);
  }
}

void Starter::run(StartedCall& call) {
  try {
    call.body_(call.domain_);
  } catch (...) {
    call.failure_ = std::current_exception();
  }
}

}  // namespace baton::collectives
