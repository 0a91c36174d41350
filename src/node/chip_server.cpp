#include "node/chip_server.hpp"

#include <algorithm>
#include <exception>

#include "base/checked_order.hpp"
#include "base/fail.hpp"
#include "base/recorder.hpp"
#include "chip/graph/view.hpp"
#include "comm/domain_state.hpp"
#include "node/far_node.hpp"
#include "node/task_message.hpp"

namespace baton::node {
namespace {

/// Runs whose failure a chip remembers, so that tasks which follow it are not run. Older ones have ended.
constexpr std::size_t kRememberedFailures = 64;

Access access_of(TensorArgType type) {
  switch (type) {
    case TensorArgType::input: return Access::in;
    case TensorArgType::output:
    case TensorArgType::output_existing: return Access::out;
    case TensorArgType::inout: return Access::inout;
    case TensorArgType::no_dep: return Access::no_dependency;
  }
  return Access::inout;
}

/// An event of what a chip does for a task of its node.
class TracedTask {
 public:
  TracedTask(const Domain& chip, const std::string& callable, const TaskWire& task) {
    if (!events::tracing()) return;
    event_ = {.begin = ticks(),
              .kind = EventKind::node_task,
              .rank = static_cast<std::uint32_t>(chip.rank()),
              .object = events::text(callable),
              .a = task.task,
              .b = task.tasks};
  }
  TracedTask(const TracedTask&) = delete;
  TracedTask& operator=(const TracedTask&) = delete;
  ~TracedTask() {
    if (event_.begin == 0) return;
    event_.end = ticks();
    if (std::uncaught_exceptions() != 0) event_.outcome = EventOutcome::failed;
    events::record(event_);
  }

 private:
  EventRecord event_;
};

comm::World& world_of(const Domain& me) { return comm::DomainAccess::state(me)->world(); }

}  // namespace

ChipServer::ChipServer(wire::NodeHeader& node, const Domain& me, BufferTable& buffers, FutexScope scope, FarNode* far)
    : me_(me),
      buffers_(buffers),
      place_(world_of(me).parking_place()),
      timeout_(world_of(me).wait_timeout()),
      mailbox_(node, static_cast<std::size_t>(me.rank()), scope, far == nullptr ? nullptr : &far->courier()),
      views_(views_of(node, static_cast<std::size_t>(me.rank()))),
      tasks_(views_.tasks),
      reports_(views_.reports),
      far_(far),
      callables_(far == nullptr
                     ? SentLibraries::Fetch{}
                     : [far](std::uint64_t buffer, std::span<std::byte> to) { far->memory().fetch_all(buffer, to); }),
      watches_(world_of(me)) {}

bool ChipServer::run_tasks(const ChipOptions& options, const std::function<void(wire::ChipPhase)>& on_start) {
  std::unique_ptr<Chip> chip;
  try {
    chip = std::make_unique<Chip>(me_, options);
  } catch (...) {
    report(failure_of(std::current_exception()), 0);
    mailbox_.set_phase(wire::ChipPhase::failed);
    on_start(wire::ChipPhase::failed);
    return false;
  }
  chip_.store(chip.get(), std::memory_order_release);
  if (!chip->memory_place().is_host()) copies_.emplace(*chip);
  mailbox_.set_phase(wire::ChipPhase::ready);
  on_start(wire::ChipPhase::ready);
  while (!stopped_) {
    const auto record = tasks_.next();
    if (!record) {
      if (tasks_.has_part()) mailbox_.ring();
      static_cast<void>(wait_until(
          place_,
          [this] {
            look();
            return tasks_.readable();
          },
          Deadline::never(), [] {}));
      continue;
    }
    MessageReader message(*record);
    deal_with(message);
    mailbox_.tell_completed(++dealt_with_);
  }
  let_go_of_domains();
  return true;
}

void ChipServer::look() noexcept {
  if (far_ != nullptr) far_->progress();
}

void ChipServer::let_go_of_domains() {
  std::map<std::uint64_t, OpenDomain> ended;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(domains_);
  }
  for (const auto& [id, open] : ended) watches_.forget(id);
}

void ChipServer::deal_with(MessageReader& message) {
  switch (message.kind()) {
    case MessageKind::run: return run_task(message);
    case MessageKind::define: callables_.define(message); break;
    case MessageKind::release_domain: {
      const auto id = message.get<std::uint64_t>();
      watches_.forget(id);
      place_.doorbell->ring(place_.scope);  // the thread that watches shows the others
      const std::lock_guard lock(mutex_);
      domains_.erase(id);
      break;
    }
    case MessageKind::forget_buffer: forget_buffer(message.get<std::uint64_t>()); break;
    default: stopped_ = true; break;
  }
  tasks_.release();
}

void ChipServer::run_task(MessageReader& message) {
  const auto task = message.get<TaskWire>();
  node_ = task.tasks;
  try {
    if (failed_runs_.contains(task.run)) {
      tasks_.release();
      return;
    }
    const CheckedActor chip{static_cast<std::uint32_t>(me_.rank())};
    if (is_checked()) CheckedTasks{task.tasks}.begun(chip, task.task);
    execute(message, task);
    if (is_checked()) CheckedTasks{task.tasks}.ended(chip, task.task);
  } catch (...) {
    if (failed_runs_.size() == kRememberedFailures) failed_runs_.erase(failed_runs_.begin());
    failed_runs_.insert(task.run);
    report(failure_of(std::current_exception()), dealt_with_ + 1);
  }
}

void ChipServer::execute(MessageReader& message, const TaskWire& task) {
  tensors_.clear();
  scalars_.clear();
  arguments_.clear();
  // Arguments refer to tensors by their addresses.
  tensors_.reserve(task.tensors);
  if (copies_) copies_->reset();
  if (far_ != nullptr) far_->memory().reset();
  std::exception_ptr failure;
  const ChipCallables::Entry* entry = nullptr;
  try {
    for (std::uint32_t i = 0; i < task.args; ++i) {
      const auto arg = message.get<ArgWire>();
      if (arg.is_tensor != 0) {
        tensors_.push_back(read_tensor(message, arg));
        arguments_.emplace_back(access_of(static_cast<TensorArgType>(arg.type)), tensors_.back());
      } else {
        scalars_.push_back(arg.value);
        arguments_.emplace_back(arg.value);
      }
    }
    entry = &callables_.at(task.callable);
  } catch (...) {
    failure = std::current_exception();
  }
  tasks_.release();
  if (failure) std::rethrow_exception(failure);
  const TracedTask traced(me_, entry->name, task);
  if (far_ != nullptr) far_->memory().bring();
  if (copies_) copies_->bring();
  run(*entry, task);
  if (copies_) copies_->take_back();
  if (far_ != nullptr) far_->memory().take_back();
}

void ChipServer::run(const ChipCallables::Entry& callable, const TaskWire& task) {
  if (callable.program) return callable.program->run(chip(), ChipArgs(tensors_, scalars_), Place{});
  chip().run([&](Graph& graph) {
    if (callable.function != nullptr) return callable.function(graph, ChipArgs(tensors_, scalars_));
    TaskOptions options;
    options.blocks = task.blocks;
    options.start_together = task.start_together != 0;
    options.priority = task.priority;
    graph.submit_arguments(callable.kernel, arguments_, options, Place{});
  });
}

Tensor ChipServer::read_tensor(MessageReader& message, const ArgWire& arg) {
  const auto memory = message.get<MemoryWire>();
  std::array<std::int64_t, kMaxDims> shape{};
  std::array<std::int64_t, kMaxDims> strides{};
  const std::size_t dims = std::min<std::size_t>(arg.dims, kMaxDims);
  for (std::size_t d = 0; d < dims; ++d) shape[d] = message.get<std::int64_t>();
  for (std::size_t d = 0; d < dims; ++d) strides[d] = message.get<std::int64_t>();
  const MemorySpace space = memory.buffer == kTokenBuffer ? MemorySpace::token : MemorySpace::host;
  const Tensor tensor({.address = address_of(memory), .bytes = memory.bytes, .space = space},
                      static_cast<DType>(arg.dtype), Tensor::Extents(shape.data(), dims),
                      Tensor::Extents(strides.data(), dims), arg.value);
  if (memory.buffer != kTokenBuffer && (memory.buffer & kDomainBuffer) == 0) {
    const bool is_read = static_cast<TensorArgType>(arg.type) == TensorArgType::input;
    if (copies_) copies_->use(memory.buffer, tensor, is_read ? DeviceCopies::Use::read : DeviceCopies::Use::write);
    if (far_ != nullptr) {
      const graph::View view = graph::view_of(tensor);
      const std::uint64_t base = tensor.buffer().address - memory.begin;
      far_->memory().use(memory.buffer, known_.at(memory.buffer).buffer, static_cast<std::int64_t>(view.start - base),
                         static_cast<std::int64_t>(view.end() - base),
                         is_read ? FarMemory::Use::read : FarMemory::Use::write);
    }
  }
  return tensor;
}

std::uint64_t ChipServer::address_of(const MemoryWire& memory) {
  if (memory.buffer == kTokenBuffer) return memory.begin;
  if ((memory.buffer & kDomainBuffer) == 0) {
    return buffer(memory.buffer) + memory.begin;
  }
  const std::lock_guard lock(mutex_);
  const auto found = domains_.find(memory.buffer & ~kDomainBuffer);
  if (found == domains_.end()) fail(Code::released, "a task uses the windows of a domain that was released");
  return reinterpret_cast<std::uint64_t>(found->second.window.local() + memory.begin);
}

std::uint64_t ChipServer::buffer(std::uint64_t id) {
  const auto address = [&](const Known& known) {
    if (copies_) return copies_->address_of(id, known.buffer);
    return reinterpret_cast<std::uint64_t>(known.buffer.address);
  };
  if (const auto known = known_.find(id); known != known_.end()) return address(known->second);
  std::optional<MappedBuffer> found;
  const auto came = [&] {
    if (!found) found = buffers_.find(id);
    return found.has_value();
  };
  if (!wait_until(place_, came, Deadline::within(timeout_), [] {})) {
    fail(Code::wait_timeout, "chip {} waited for the memory of buffer {}, which the node announced", me_.rank(), id);
  }
  Known known{.buffer = *found, .whole = {}};
  if (copies_) return address(known_.emplace(id, std::move(known)).first->second);
  const Buffer memory{
      .address = reinterpret_cast<std::uint64_t>(found->address), .bytes = found->bytes, .id = node_memory(node_, id)};
  chip().add_memory(memory, found->name);
  known.whole = Tensor(memory, DType::uint8, {static_cast<std::int64_t>(found->bytes)});
  return address(known_.emplace(id, std::move(known)).first->second);
}

void ChipServer::forget_buffer(std::uint64_t id) {
  const auto known = known_.find(id);
  if (known != known_.end()) {
    if (copies_) {
      copies_->forget(id);
    } else {
      chip().remove(known->second.whole);
    }
    known_.erase(known);
  }
  buffers_.erase(id);
}

void ChipServer::report(const Failure& failure, std::uint64_t record) {
  report_.begin(MessageKind::failure);
  report_.put(record);
  put_failure(report_, failure);
  static_cast<void>(mailbox_.write(reports_, report_.finish(), place_, Deadline::within(timeout_)));
}

}  // namespace baton::node
