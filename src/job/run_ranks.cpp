#include <baton/inproc.hpp>
#include <baton/options.hpp>

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>

#include "base/fail.hpp"
#include "base/fiber.hpp"
#include "base/processors.hpp"
#include "base/thread_count.hpp"
#include "comm/backends/inproc/inproc_job.hpp"
#include "comm/domain_state.hpp"
#include "job/uncaught.hpp"

namespace baton {
namespace {

/// The failure that came first: the others usually follow from it.
class FirstFailure {
 public:
  void note(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

void run_rank(const std::shared_ptr<inproc::Job>& job, std::uint32_t rank, const std::function<void(Domain)>& body,
              FirstFailure& failure) {
  auto world = std::make_shared<comm::World>(inproc::connect(job, rank), rank, job->name(), options().wait_timeout);
  try {
    body(Domain(comm::DomainState::of_world(world)));
    world->leave(comm::Farewell::leave);
  } catch (...) {
    // Noted before the others can see the death and fail because of it.
    failure.note(std::current_exception());
    const job::UncaughtException uncaught(std::current_exception());
    world->leave(comm::Farewell::fail, uncaught.reason());
  }
}

}  // namespace

void run_ranks(int size, const std::function<void(Domain)>& body, InprocOptions inproc_options) {
  if (size < 1 || static_cast<std::uint32_t>(size) > wire::kMaxRanks) {
    fail(Situation::ranks_impossible, "{} ranks are not possible; 1 to {} are", size, wire::kMaxRanks);
  }
  check_thread_count("ranks of one process", inproc_options.threads);
  const auto ranks = static_cast<std::uint32_t>(size);
  auto job = std::make_shared<inproc::Job>(ranks, "world", comm::Hosting::fibers);
  FirstFailure failure;
  // What follows from a seed alone cannot depend on how threads take turns.
  const int wanted = inproc_options.threads > 0 ? inproc_options.threads : std::min(size, usable_processors());
  const int threads = options().seed ? 1 : wanted;
  FiberPool pool({.threads = threads,
                  .stack_bytes = inproc_options.stack_bytes,
                  .seed = options().seed,
                  .place = {&job->control().doorbell, FutexScope::process,
                            crowding_of(static_cast<std::size_t>(threads)), threads <= usable_processors()}});
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    job->enter(rank);
    pool.add([&job, &body, &failure, rank] { run_rank(job, rank, body, failure); });
  }
  pool.run();
  failure.rethrow();
}

}  // namespace baton
