#include "chip/cores/sim/dma_engine.hpp"

#include <algorithm>
#include <cstring>

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "base/fiber.hpp"

namespace baton::chip {
namespace {

/// Turns that a seeded engine lets pass between two chunks, at the most.
constexpr std::uint64_t kLongestRest = 8;

}  // namespace

DmaEngine::DmaEngine(GlobalMemory& memory, const DmaOptions& options)
    : memory_(memory), options_(options), random_(options.seed.value_or(0)) {}

std::uint64_t DmaEngine::open_session() {
  const std::lock_guard lock(mutex_);
  return ++last_session_;
}

std::uint64_t DmaEngine::submit(const BatonCopy& copy) {
  auto record = std::make_unique<std::atomic<std::uint64_t>>(static_cast<std::uint64_t>(Record::pending));
  const auto address = reinterpret_cast<std::uint64_t>(record.get());
  {
    const std::lock_guard lock(mutex_);
    sessions_[copy.session].push_back({copy, record.get()});
    records_.emplace(address, std::move(record));
  }
  // Pairs with the load in serve(). Sequentially consistent because the doorbell is rung after it.
  pending_.fetch_add(1, std::memory_order_seq_cst);
  memory_.parking_place().doorbell->ring(memory_.parking_place().scope);
  return address;
}

DmaEngine::Record DmaEngine::state(std::uint64_t record, std::string* why) const {
  // Pairs with the store in settle(): whoever sees the copy complete sees its bytes.
  const auto state =
      static_cast<Record>(reinterpret_cast<const std::atomic<std::uint64_t>*>(record)->load(std::memory_order_seq_cst));
  if (state == Record::failed && why != nullptr) {
    const std::lock_guard lock(mutex_);
    *why = failures_.at(record);
  }
  return state;
}

DmaEngine::Record DmaEngine::wait(std::uint64_t record, std::string* why) {
  const auto settled = [&] { return state(record) != Record::pending; };
  const auto timeout = baton::options().wait_timeout;
  if (!settled() && !wait_until(memory_.parking_place(), settled, Deadline::within(timeout), [] {})) {
    fail(Code::wait_timeout, "an asynchronous copy was not complete after {} s",
         std::chrono::duration_cast<std::chrono::seconds>(timeout).count());
  }
  return state(record, why);
}

void DmaEngine::abandon(std::uint64_t record) {
  const std::lock_guard lock(mutex_);
  if (state(record) == Record::pending) {
    abandoned_.insert(record);
    return;
  }
  records_.erase(record);
  failures_.erase(record);
}

void DmaEngine::stop() {
  stop_.store(true, std::memory_order_seq_cst);
  memory_.parking_place().doorbell->ring(memory_.parking_place().scope);
}

std::optional<DmaEngine::Copy> DmaEngine::take() {
  const std::lock_guard lock(mutex_);
  if (sessions_.empty()) return std::nullopt;
  auto session = sessions_.begin();
  if (options_.seed) std::advance(session, random_() % sessions_.size());
  const Copy copy = session->second.front();
  session->second.pop_front();
  if (session->second.empty()) sessions_.erase(session);
  return copy;
}

void DmaEngine::serve() {
  // Pairs with submit() and stop().
  const auto called = [this] {
    return pending_.load(std::memory_order_seq_cst) != 0 || stop_.load(std::memory_order_seq_cst);
  };
  while (true) {
    // An engine has no deadline of its own: it ends when it is stopped.
    if (!wait_until(memory_.parking_place(), called, Deadline::at(Deadline::Clock::time_point::max()), [] {})) continue;
    const auto copy = take();
    if (!copy) return;
    pending_.fetch_sub(1, std::memory_order_relaxed);
    carry_out(*copy);
  }
}

void DmaEngine::rest() {
  const std::uint64_t turns = options_.seed ? random_() % kLongestRest : 1;
  for (std::uint64_t i = 0; i < turns; ++i) yield_fiber();
}

void DmaEngine::carry_out(const Copy& copy) {
  const BatonCopy& request = copy.request;
  if (!memory_.known(request.source, request.bytes)) {
    return settle(copy, Record::failed,
                  fmt::format("its {} source bytes are in no tensor and no window ({})", request.bytes,
                              memory_.describe_nearest(request.source)));
  }
  if (!memory_.known(request.destination, request.bytes)) {
    return settle(copy, Record::failed,
                  fmt::format("its {} destination bytes are in no tensor and no window ({})", request.bytes,
                              memory_.describe_nearest(request.destination)));
  }
  for (std::uint64_t done = 0; done < request.bytes;) {
    rest();
    const std::uint64_t chunk = std::min(options_.chunk_bytes, request.bytes - done);
    std::memmove(static_cast<char*>(request.destination) + done, static_cast<const char*>(request.source) + done,
                 chunk);
    done += chunk;
  }
  rest();
  if (request.signal != nullptr) {
    memory_.notify(request.signal, request.signal_value, request.signal_op == 0 ? NotifyOp::add : NotifyOp::set);
  }
  settle(copy, Record::complete, {});
}

void DmaEngine::settle(const Copy& copy, Record state, const std::string& why) {
  const auto address = reinterpret_cast<std::uint64_t>(copy.record);
  {
    const std::lock_guard lock(mutex_);
    if (abandoned_.erase(address) == 1) {
      records_.erase(address);
      return;
    }
    if (state == Record::failed) failures_[address] = why;
    // Pairs with the load in state(), and with the acquire of a completion condition.
    copy.record->store(static_cast<std::uint64_t>(state), std::memory_order_seq_cst);
  }
  memory_.parking_place().doorbell->ring(memory_.parking_place().scope);
}

}  // namespace baton::chip
