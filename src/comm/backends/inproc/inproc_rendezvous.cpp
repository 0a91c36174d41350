// Threads of one process that meet under a name.
#include <atomic>

#include "base/fail.hpp"
#include "base/parking.hpp"
#include "comm/backends/inproc/inproc_job.hpp"
#include "comm/missing_ranks.hpp"

namespace baton::inproc {
namespace {

/// A job that is coming together. Lives until the last rank that waits in it has gone.
struct Meeting {
  explicit Meeting(std::uint32_t size, const std::string& name)
      : job(std::make_shared<Job>(size, name, comm::Hosting::threads)), present(size, false) {}

  std::shared_ptr<Job> job;
  std::vector<bool> present;        // guarded by meetings_mutex
  std::uint32_t present_count = 0;  // guarded by meetings_mutex
  std::atomic<bool> complete{false};
  Doorbell doorbell;
};

std::mutex meetings_mutex;

std::map<std::string, std::shared_ptr<Meeting>>& meetings() {
  static std::map<std::string, std::shared_ptr<Meeting>> all;
  return all;
}

std::shared_ptr<Meeting> arrive(const std::string& name, std::uint32_t rank, std::uint32_t size) {
  const std::lock_guard lock(meetings_mutex);
  std::shared_ptr<Meeting>& meeting = meetings()[name];
  if (!meeting) meeting = std::make_shared<Meeting>(size, name);
  if (meeting->present.size() != size) {
    fail(Code::join_refused, "rank {} says that \"{}\" has {} ranks; those already there say {}", rank, name, size,
         meeting->present.size());
  }
  if (meeting->present[rank])
    fail(Code::rank_taken, "rank {} of \"{}\" is taken by another thread of this process", rank, name);
  meeting->present[rank] = true;
  meeting->job->enter(rank);
  std::shared_ptr<Meeting> mine = meeting;
  if (++mine->present_count == size) {
    // The name is free for the next job; this one needs it no more.
    meetings().erase(name);
    // Pairs with the load in rendezvous(): a rank that sees it sees all ranks entered.
    mine->complete.store(true, std::memory_order_seq_cst);
  }
  return mine;
}

/// Takes `rank` back out of a meeting that did not complete. False if it completed after all.
bool withdraw(const std::string& name, Meeting& meeting, std::uint32_t rank, std::vector<std::uint32_t>& missing) {
  const std::lock_guard lock(meetings_mutex);
  if (meeting.complete.load(std::memory_order_relaxed)) return false;
  for (std::uint32_t r = 0; r < meeting.present.size(); ++r) {
    if (!meeting.present[r]) missing.push_back(r);
  }
  meeting.present[rank] = false;
  if (--meeting.present_count == 0) meetings().erase(name);
  return true;
}

}  // namespace

std::unique_ptr<comm::Backend> rendezvous(const std::string& name, std::uint32_t rank, std::uint32_t size,
                                          std::chrono::nanoseconds timeout) {
  const std::shared_ptr<Meeting> meeting = arrive(name, rank, size);
  meeting->doorbell.ring(FutexScope::process);
  const ParkingPlace place{&meeting->doorbell, FutexScope::process, crowding_of(size)};
  const auto complete = [&] { return meeting->complete.load(std::memory_order_seq_cst); };
  std::vector<std::uint32_t> missing;
  if (!wait_until(place, complete, Deadline::after(timeout), [] {}) && withdraw(name, *meeting, rank, missing)) {
    comm::throw_missing_ranks(name, missing, size, timeout);
  }
  return connect(meeting->job, rank);
}

}  // namespace baton::inproc
