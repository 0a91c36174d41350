// One direction of a pair of ranks, through Baton's public interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <baton/baton.hpp>

#include <comm/ping_pong.hpp>

namespace bench {

/// put_signal from private memory into the partner's window; without bytes, the signal alone.
class PutChannel {
 public:
  PutChannel(baton::Domain& domain, std::size_t bytes)
      : partner_(partner_of(domain.rank())), source_(bytes), signals_(domain.signals("bench.signals", 1)) {
    if (bytes > 0) window_ = domain.window<std::byte>("bench.payload", bytes);
    for (std::byte& touched : window_) touched = std::byte{0};
    domain.barrier();
  }

  void send() const {
    if (source_.empty()) {
      signals_.notify(partner_, 0);
    } else {
      window_.put_signal(partner_, 0, source_, signals_, 0);
    }
  }
  void receive() { receive(1); }
  /// Until `more` messages have come.
  void receive(std::int32_t more) { signals_.wait(0, baton::WaitCmp::ge, expected_ += more); }
  std::vector<std::byte>& source() { return source_; }
  [[nodiscard]] std::span<const std::byte> received() const { return {window_.begin(), window_.end()}; }

 private:
  int partner_;
  std::vector<std::byte> source_;
  baton::Signals signals_;
  baton::Window<std::byte> window_;
  std::int32_t expected_ = 0;
};

}  // namespace bench
