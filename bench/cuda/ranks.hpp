// Ranks that are chips of one GPU, each on a thread of its own.
#pragma once

#include <exception>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include <baton/baton.hpp>
#include <baton/collectives.hpp>

namespace bench::cuda {

/// A thread for each rank: threads that run graphs of a GPU wait for them.
inline void on_threads(int ranks, const std::function<void(baton::Domain)>& body) {
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(baton::join("inproc:bench", rank, ranks));
      } catch (...) {
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

inline baton::ChipOptions part_of(const baton::Domain& me, int clusters) {
  return {.platform = "cuda", .device = me.rank(), .device_count = me.size(), .clusters = clusters};
}

/// The same number on all ranks.
inline double largest_of(const baton::Domain& me, double value) {
  baton::allreduce(me, std::span(&value, 1), baton::ReduceOp::max);
  return value;
}

}  // namespace bench::cuda
