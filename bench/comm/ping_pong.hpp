// Pairs of ranks that answer each other, the same for every contender.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>

#include <support/measure.hpp>
#include <support/pattern.hpp>

namespace bench {

/// Ranks 0 and 1, 2 and 3, ... are pairs; the even one starts and measures.
[[nodiscard]] constexpr int partner_of(int rank) { return rank ^ 1; }
[[nodiscard]] constexpr bool starts(int rank) { return rank % 2 == 0; }

/// A channel sends its `source()` to the partner with send() and has the partner's bytes in `received()` after
/// receive(). `sync()` is a barrier of all ranks; `agree` as in measure(). Returns the time of one way, and throws if a
/// byte arrived wrong.
template <class Channel, class Sync, class Agree>
[[nodiscard]] Measured ping_pong(Channel& channel, int rank, std::chrono::nanoseconds budget, Sync&& sync,
                                 Agree&& agree) {
  const auto round = [&] {
    if (starts(rank)) {
      channel.send();
      channel.receive();
    } else {
      channel.receive();
      channel.send();
    }
  };
  fill_pattern(channel.source(), rank, 0);
  const auto run = [&](std::int64_t n) {
    sync();
    const auto start = Clock::now();
    for (std::int64_t i = 0; i < n; ++i) round();
    return nanoseconds_since(start) / 2;
  };
  const Measured measured = measure(budget, run, agree);
  for (int checked = 1; checked <= kCheckedRounds; ++checked) {
    fill_pattern(channel.source(), rank, checked);
    if (starts(rank)) channel.send();
    channel.receive();
    check_pattern(channel.received(), partner_of(rank), checked);
    if (!starts(rank)) channel.send();
  }
  return measured;
}

}  // namespace bench
