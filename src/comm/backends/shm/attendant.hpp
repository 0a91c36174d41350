// The attendant: a thread of each rank that takes the mail and watches one neighbour's life.
//
// Every rank is watched by exactly one other, the nearest living rank before it, so a job of any size needs one
// descriptor per rank. The attendant that sees a death marks it in the control segment, wakes everybody, and watches
// the next rank instead; ranks that die together are found one after the other.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/liveness.hpp"
#include "base/unique_fd.hpp"
#include "comm/backends/shm/mailroom.hpp"
#include "comm/rendezvous.hpp"
#include "wire/control.hpp"

namespace baton::shm {

class Attendant {
 public:
  /// Called on the attendant's thread for each rank that it finds dead.
  using OnDeath = std::function<void(const comm::RankEnd&)>;

  /// `listener`, if not empty, is the rendezvous socket of the complete job: late arrivals there are refused.
  Attendant(wire::ControlHeader& control, std::uint32_t rank, Mailroom& mailroom, UniqueFd listener, std::string job,
            OnDeath on_death = {});
  Attendant(const Attendant&) = delete;
  Attendant& operator=(const Attendant&) = delete;
  ~Attendant();

  /// Makes the attendant look again for a rank to watch.
  void poke() noexcept;

  /// In a forked child, which has no such thread: forget it.
  void abandon() noexcept { thread_.detach(); }

 private:
  void run();
  void choose_whom_to_watch();
  void report_death();
  void refuse_latecomer();

  wire::ControlHeader& control_;
  std::uint32_t rank_;
  Mailroom& mailroom_;
  UniqueFd listener_;
  std::string job_;
  OnDeath on_death_;
  UniqueFd poke_;
  std::atomic<bool> stop_{false};
  std::optional<DeathWatch> watch_;
  std::uint32_t watched_ = 0;
  std::thread thread_;
};

}  // namespace baton::shm
