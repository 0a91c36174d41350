#include "comm/backends/inproc/inproc_job.hpp"

#include <sys/mman.h>

#include "base/fail.hpp"
#include "base/liveness.hpp"
#include "base/processors.hpp"
#include "comm/health.hpp"

namespace baton::inproc {
namespace {

class InprocBackend final : public comm::Backend {
 public:
  InprocBackend(std::shared_ptr<Job> job, std::uint32_t rank) : job_(std::move(job)), rank_(rank) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "inproc"; }
  [[nodiscard]] wire::ControlHeader& control() noexcept override { return job_->control(); }
  [[nodiscard]] FutexScope futex_scope() const noexcept override { return FutexScope::process; }

  [[nodiscard]] std::shared_ptr<comm::SharedMemory> offer(wire::AllocationKey key, std::uint64_t bytes,
                                                          std::span<const std::uint32_t> to, Deadline /*deadline*/,
                                                          FunctionRef<void(void*)> prepare) override {
    // Fresh from the kernel: zero, and given out page by page when touched.
    void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) fail_system(fmt::format("mapping a segment of {} bytes", bytes));
    auto memory = std::make_shared<comm::SharedMemory>(address, bytes);
    prepare(address);
    job_->offer(key, memory, to);
    for (const std::uint32_t rank : to) wire::doorbell_of(control(), rank).ring(FutexScope::process);
    return memory;
  }

  [[nodiscard]] std::shared_ptr<comm::SharedMemory> collect(wire::AllocationKey key) override {
    return job_->collect(key, rank_);
  }

  void say_farewell(comm::Farewell farewell, const comm::FailureReason& reason) noexcept override {
    if (farewell == comm::Farewell::leave) {
      comm::mark_left(control(), rank_, FutexScope::process);
    } else {
      comm::mark_failed(control(), rank_, reason, FutexScope::process);
    }
  }

 private:
  std::shared_ptr<Job> job_;
  std::uint32_t rank_;
};

}  // namespace

Job::Job(std::uint32_t ranks, std::string name, comm::Hosting hosting)
    : name_(std::move(name)),
      control_(comm::make_control(ranks, name_, comm::make_token(), hosting, usable_processors())) {}

void Job::enter(std::uint32_t rank) {
  const ProcessId self = this_process();
  comm::enter_rank(control(), rank, self.pid, self.start_time);
}

void Job::offer(wire::AllocationKey key, const std::shared_ptr<comm::SharedMemory>& memory,
                std::span<const std::uint32_t> to) {
  // A waiter announces itself before it takes this lock in collect(): either it finds the parcel, or the ring that
  // follows finds the waiter.
  const std::lock_guard lock(mutex_);
  for (const std::uint32_t rank : to) parcels_[{key, rank}] = memory;
}

std::shared_ptr<comm::SharedMemory> Job::collect(wire::AllocationKey key, std::uint32_t rank) {
  const std::lock_guard lock(mutex_);
  const auto found = parcels_.find({key, rank});
  if (found == parcels_.end()) return nullptr;
  auto memory = std::move(found->second);
  parcels_.erase(found);
  return memory;
}

std::unique_ptr<comm::Backend> connect(std::shared_ptr<Job> job, std::uint32_t rank) {
  return std::make_unique<InprocBackend>(std::move(job), rank);
}

}  // namespace baton::inproc
