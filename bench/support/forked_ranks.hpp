// Ranks made by fork that share a page, for programs whose subject starts no processes itself.
#pragma once

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <system_error>
#include <vector>

#include <support/arguments.hpp>
#include <support/process.hpp>

namespace bench {

constexpr std::size_t kCacheLine = 64;

/// Anonymous memory that forked processes share, zeroed and touched.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes) : bytes_(bytes) {
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (address == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "shared memory");
    address_ = static_cast<std::byte*>(address);
  }
  ~SharedMemory() { munmap(address_, bytes_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  [[nodiscard]] std::byte* data() const { return address_; }

 private:
  std::byte* address_ = nullptr;
  std::size_t bytes_;
};

/// Waits, outside of timed parts, until `ready()`.
template <class Ready>
void wait_yielding(Ready&& ready) {
  while (!ready()) sched_yield();
}

/// A barrier, a mean and a maximum over the ranks, for what surrounds the timed parts.
class Meeting {
 public:
  static constexpr int kMostRanks = 64;

  void barrier(int ranks) {
    const std::uint32_t phase = phase_.load(std::memory_order_relaxed);
    // Acquire pairs with the release of earlier arrivals; release with the acquire of the last arrival.
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint32_t>(ranks)) {
      arrived_.store(0, std::memory_order_relaxed);
      // Pairs with the acquire load below.
      phase_.store(phase + 1, std::memory_order_release);
    } else {
      wait_yielding([&] { return phase_.load(std::memory_order_acquire) != phase; });
    }
  }

  /// The mean of `value` over the even ranks, which are those that measure.
  [[nodiscard]] double mean_of_even(int rank, int ranks, double value) {
    values_[rank] = value;
    barrier(ranks);
    double sum = 0;
    for (int i = 0; i < ranks; i += 2) sum += values_[i];
    barrier(ranks);
    return sum / ((ranks + 1) / 2);
  }

  [[nodiscard]] double largest(int rank, int ranks, double value) {
    values_[rank] = value;
    barrier(ranks);
    const double result = *std::max_element(values_, values_ + ranks);
    barrier(ranks);
    return result;
  }

 private:
  alignas(kCacheLine) std::atomic<std::uint32_t> arrived_{0};
  alignas(kCacheLine) std::atomic<std::uint32_t> phase_{0};
  alignas(kCacheLine) double values_[kMostRanks] = {};
};

/// Runs `body(rank)` in `ranks` processes and returns 0 when all succeeded. The first failure ends the others.
template <class Body>
[[nodiscard]] int fork_ranks(int ranks, unsigned limit_seconds, Body&& body) {
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child == 0) {
      limit_lifetime(limit_seconds);
      int status = 0;
      try {
        body(rank);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
        status = 1;
      }
      std::fflush(nullptr);
      _exit(status);
    }
    children.push_back(child);
  }
  while (!children.empty()) {
    int status = 0;
    std::erase(children, wait(&status));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    for (const pid_t child : children) kill(child, SIGKILL);
    return 1;
  }
  return 0;
}

/// The main function of a program whose ranks call `measure(meeting, rank, arguments)`.
template <class Measure>
[[nodiscard]] int measure_in_ranks(const char* program, int argc, char** argv, Measure&& measure) try {
  const Arguments arguments = parse_arguments(argc, argv);
  limit_lifetime(arguments.limit_seconds);
  const SharedMemory memory(sizeof(Meeting));
  auto* meeting = new (memory.data()) Meeting;
  return fork_ranks(arguments.ranks, arguments.limit_seconds, [&](int rank) { measure(*meeting, rank, arguments); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s: %s\n", program, error.what());
  return 1;
}

}  // namespace bench
