// A job whose ranks live in one process, as threads or as fibers.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "comm/backend.hpp"
#include "comm/control_setup.hpp"

namespace baton::inproc {

/// What the ranks of one job share: the control segment and the segments on their way from one rank to others.
class Job {
 public:
  Job(std::uint32_t ranks, std::string name, comm::Hosting hosting);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] wire::ControlHeader& control() noexcept { return control_.header(); }

  /// Enters the calling thread's process as `rank`.
  void enter(std::uint32_t rank);

  void offer(wire::AllocationKey key, const std::shared_ptr<comm::SharedMemory>& memory,
             std::span<const std::uint32_t> to);
  [[nodiscard]] std::shared_ptr<comm::SharedMemory> collect(wire::AllocationKey key, std::uint32_t rank);

 private:
  struct Parcel {
    wire::AllocationKey key;
    std::uint32_t to;
    friend auto operator<=>(const Parcel&, const Parcel&) = default;
  };

  std::string name_;
  comm::ControlSegment control_;
  std::mutex mutex_;
  std::map<Parcel, std::shared_ptr<comm::SharedMemory>> parcels_;
};

/// The connection of `rank` to `job`, which it has entered.
[[nodiscard]] std::unique_ptr<comm::Backend> connect(std::shared_ptr<Job> job, std::uint32_t rank);

/// Meets the other ranks of the job `name` in this process: threads that call this with the same name and size. Throws
/// join_timeout, rank_taken or join_refused.
[[nodiscard]] std::unique_ptr<comm::Backend> rendezvous(const std::string& name, std::uint32_t rank, std::uint32_t size,
                                                        std::chrono::nanoseconds timeout);

}  // namespace baton::inproc
