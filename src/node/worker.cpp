#include <baton/worker.hpp>

#include <algorithm>
#include <new>

#include <fmt/ranges.h>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "node/inside_run.hpp"
#include "node/worker_state.hpp"

namespace baton {
namespace {

/// The state, for a use by the process that made it.
node::WorkerState& own(const std::shared_ptr<node::WorkerState>& state) {
  state->process().check("this worker");
  return *state;
}

class Use {
 public:
  explicit Use(node::WorkerState& worker) : worker_(worker) { worker_.begin_use(); }
  ~Use() { worker_.end_use(); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  node::WorkerState& worker_;
};

}  // namespace

Worker::Worker(const WorkerOptions& options) : state_(std::make_shared<node::WorkerState>(options)) {}
Worker::~Worker() {
  const bool inside = node::InsideRun::of(*state_);
  if (inside) log::warn("a worker is destroyed inside one of its runs: its chips live as long as this process");
  if (inside || !state_->process().is_this()) {
    // The chips are not a forked child's, and the threads that the object holds do not exist there. A run still needs
    // both.
    static_cast<void>(new (std::nothrow) std::shared_ptr<node::WorkerState>(state_));
    return;
  }
  // Handles of domains may live longer; the chips do not.
  try {
    state_->close();
  } catch (const std::exception& error) {
    log::warn("closing a worker: {}", error.what());
  }
}

void Worker::run(const OrchestrationFunction& orchestration, Place where) { own(state_).run(orchestration, where); }
RunHandle Worker::submit(OrchestrationFunction orchestration, Place where) {
  return RunHandle(own(state_).start_run(std::move(orchestration), where));
}
Tensor Worker::create_buffer(DType dtype, Tensor::Extents shape, std::string_view name) {
  return own(state_).create_buffer(-1, dtype, shape, name);
}
Tensor Worker::create_buffer_on(int worker, DType dtype, Tensor::Extents shape, std::string_view name) {
  if (worker < 0) fail(Situation::no_such_chip, "there is no chip {}", worker);
  return own(state_).create_buffer(worker, dtype, shape, name);
}
void Worker::free_buffer(const Tensor& tensor) { own(state_).free_buffer(state_->buffer_id(tensor)); }
void Worker::copy_to(const Tensor& to, const void* from, std::size_t bytes) {
  const Use use(own(state_));
  state_->copy_to(to, from, bytes);
}
void Worker::copy_from(void* to, const Tensor& from, std::size_t bytes) {
  const Use use(own(state_));
  state_->copy_from(to, from, bytes);
}
int Worker::chip_count() const noexcept { return state_->chip_count(); }
const WorkerOptions& Worker::options() const noexcept { return state_->options(); }
int Worker::pid_of(int worker) const { return own(state_).pid_of(worker); }
void Worker::restart() { own(state_).restart(); }
void Worker::close() {
  if (state_->process().is_this()) state_->close();
}

RunHandle::RunHandle(std::shared_ptr<node::RunState> run) noexcept : run_(std::move(run)) {}
bool RunHandle::done() const { return run_->finished(); }
void RunHandle::wait() const { run_->wait(); }
bool RunHandle::wait_for(std::chrono::nanoseconds timeout) const { return run_->wait_for(timeout); }
void RunHandle::result() const {
  run_->wait();
  if (const auto failure = run_->result()) std::rethrow_exception(failure);
}
std::exception_ptr RunHandle::failure() const { return run_->result(); }

Orchestration::Orchestration(std::shared_ptr<node::WorkerState> worker, std::shared_ptr<node::RunState> run)
    : worker_(std::move(worker)), run_(std::move(run)), scopes_(1) {}
Orchestration::~Orchestration() { close_scopes(0); }

int Orchestration::chip_count() const noexcept { return worker_->chip_count(); }
const std::string& Orchestration::platform() const noexcept { return worker_->options().platform; }

DomainHandle Orchestration::allocate_domain(std::string_view name, std::span<const int> workers,
                                            std::size_t window_bytes, std::span<const CommBufferSpec> buffers,
                                            Place /*where*/) {
  return {worker_, own(worker_).allocate_domain(name, workers, window_bytes, buffers)};
}
TaskId Orchestration::submit_next_level(const Callable& callable, const TaskArgs& args, int worker,
                                        const TaskConfig& config, Place where) {
  return own(worker_).submit(*run_, callable, args, worker, config, where);
}
TaskId Orchestration::submit_next_level_group(const Callable& callable, std::span<const TaskArgs> args_list,
                                              std::span<const int> workers, const TaskConfig& config, Place where) {
  return own(worker_).submit_group(*run_, callable, args_list, workers, config, where);
}
TaskId Orchestration::submit_sub(SubFunction function, const TaskArgs& args, Place where) {
  return own(worker_).submit_sub(*run_, std::move(function), args, where);
}
Tensor Orchestration::submit_notification_wait(const Tensor& signal, std::int32_t expected, Place where) {
  return own(worker_).submit_notification_wait(*run_, signal, expected, where);
}
Tensor Orchestration::alloc(DType dtype, Tensor::Extents shape, std::string_view name) {
  const Tensor made = own(worker_).create_buffer(-1, dtype, shape, name);
  scopes_.back().push_back(made.buffer().id);
  return made;
}
Tensor Orchestration::alloc_on(int worker, DType dtype, Tensor::Extents shape, std::string_view name) {
  if (worker < 0) fail(Situation::no_such_chip, "there is no chip {}", worker);
  const Tensor made = own(worker_).create_buffer(worker, dtype, shape, name);
  scopes_.back().push_back(made.buffer().id);
  return made;
}
void Orchestration::copy_to(const Tensor& to, const void* from, std::size_t bytes) {
  own(worker_).copy_to(to, from, bytes);
}
void Orchestration::copy_from(void* to, const Tensor& from, std::size_t bytes) {
  own(worker_).copy_from(to, from, bytes);
}
void Orchestration::wait(TaskId task) { own(worker_).wait(*run_, task); }
bool Orchestration::full() const { return own(worker_).full(); }

void Orchestration::close_scopes(std::size_t depth) noexcept {
  while (scopes_.size() > depth) {
    if (worker_->process().is_this()) worker_->free_later(scopes_.back());
    scopes_.pop_back();
  }
}
Orchestration::Scope::Scope(Orchestration& owner) : owner_(&owner), depth_(owner.scopes_.size()) {
  owner.scopes_.emplace_back();
}
Orchestration::Scope::~Scope() {
  if (owner_ != nullptr) owner_->close_scopes(depth_);
}

DomainHandle::DomainHandle(std::shared_ptr<node::WorkerState> worker,
                           std::shared_ptr<node::DomainRecord> record) noexcept
    : worker_(std::move(worker)), record_(std::move(record)) {}
DomainHandle& DomainHandle::operator=(DomainHandle&& other) noexcept {
  if (this == &other) return *this;
  release();
  worker_ = std::move(other.worker_);
  record_ = std::move(other.record_);
  return *this;
}
DomainHandle::~DomainHandle() { release(); }

node::DomainRecord& DomainHandle::record() const {
  if (!record_) fail(Code::released, "a handle that refers to no domain was used");
  return *record_;
}
const std::string& DomainHandle::name() const { return record().name; }
int DomainHandle::size() const { return static_cast<int>(record().chips.size()); }
const std::vector<int>& DomainHandle::chips() const { return record().chips; }
bool DomainHandle::contains(int chip) const {
  const auto& members = record().chips;
  return std::find(members.begin(), members.end(), chip) != members.end();
}

const DomainMember& DomainHandle::operator[](int chip) const {
  node::DomainRecord& domain = record();
  if (!own(worker_).usable(domain)) {
    fail(Code::released, "domain \"{}\" is used after it was released, or after its chips were started again",
         domain.name);
  }
  const auto found = std::find(domain.chips.begin(), domain.chips.end(), chip);
  if (found == domain.chips.end()) {
    fail(Situation::not_in_domain, "chip {} is not a member of domain \"{}\"; its members are chips {}", chip,
         domain.name, fmt::join(domain.chips, ", "));
  }
  return domain.members[static_cast<std::size_t>(found - domain.chips.begin())];
}

void DomainHandle::release() {
  if (record_ && worker_->process().is_this()) worker_->release_domain(*record_);
}
bool DomainHandle::released() const noexcept { return !record_ || record_->released.load(std::memory_order_relaxed); }

const DomainMember::Placed& DomainMember::buffer(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const Placed& one : buffers) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  fail(Code::invalid_argument, "chip {} has no buffer \"{}\" in this domain; there are: {}", chip, name,
       fmt::join(names, ", "));
}

}  // namespace baton
