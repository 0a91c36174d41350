#include "chip/runtime/graph_state.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <tensor.h>

#include "base/fail.hpp"
#include "base/recorder.hpp"
#include "chip/cores/kernel_call.hpp"
#include "chip/graph/chip_tensor.hpp"
#include "chip/runtime/fill.hpp"

namespace baton::chip {
namespace {

graph::Use access_of(Access access) {
  switch (access) {
    case Access::in:
    case Access::no_dependency: return graph::Use::read;
    case Access::out: return graph::Use::write;
    case Access::inout: return graph::Use::read_write;
  }
  return graph::Use::read_write;
}

TaskKind kind_of(const Submission& submission) {
  const TaskOptions& options = submission.options;
  if (submission.cores != Cores::vector || options.blocks != 1 || options.priority != 0) return TaskKind::other;
  if (options.only_if || options.completion_queue) return TaskKind::other;
  return TaskKind::vector;
}

std::string describe(const Submission& submission) {
  return *submission.name == '\0' ? "a task without a kernel" : submission.name;
}

bool is_integer(DType dtype) { return dtype != DType::float32 && dtype != DType::float16 && dtype != DType::bfloat16; }

}  // namespace

void GraphState::check(const Submission& submission) const {
  const TaskOptions& options = submission.options;
  if (submission.arguments.size() > kKernelArguments) {
    fail(Code::invalid_argument, "{}: {} arguments; a kernel takes at most {}", describe(submission),
         submission.arguments.size(), kKernelArguments);
  }
  if (options.blocks == 0) fail(Code::invalid_argument, "{}: 0 blocks would never run", describe(submission));
  if (options.start_together) {
    const int per_cluster = submission.cores == Cores::vector ? kVectorsPerCluster : 1;
    const auto cores = static_cast<std::uint32_t>(clusters() * per_cluster);
    if (options.blocks > cores) {
      fail(Code::invalid_argument, "{}: {} blocks cannot start together on {} cores", describe(submission),
           options.blocks, cores);
    }
  }
  if (options.only_if) check_predicate(submission);
  if (options.completion_queue && submission.arguments.size() == kKernelArguments) {
    fail(Code::invalid_argument, "{}: {} arguments leave no room for the completion queue; a kernel takes {}",
         describe(submission), submission.arguments.size(), kKernelArguments);
  }
  if (options.completion_queue && (submission.cores == Cores::none || submission.cores == Cores::cluster)) {
    fail(Code::invalid_argument, "{}: a completion queue is for the kernel of one core", describe(submission));
  }
  for (const TaskId earlier : options.after) {
    if (earlier == 0 || earlier > newest()) {
      fail(Code::invalid_argument, "{}: there is no task {} to wait for", describe(submission), earlier);
    }
  }
}

void GraphState::check_predicate(const Submission& submission) const {
  const Tensor& element = submission.options.only_if->element;
  if (element.element_count() != 1 || !is_integer(element.dtype()) || element.buffer().space != MemorySpace::host) {
    fail(Code::invalid_argument, "{}: whether it runs depends on one element of an integer type, not on {}",
         describe(submission), element.describe());
  }
  // A core reads it, whatever edges there are.
  if (!parts_.memory.known(reinterpret_cast<const void*>(element.address()), size_of(element.dtype()))) {
    fail(Situation::not_chip_memory,
         "{}: what decides whether it runs, {}, is not memory of this chip, or was freed before", describe(submission),
         element.describe());
  }
}

TaskExtra* GraphState::extra_of(const Submission& submission) {
  const TaskOptions& options = submission.options;
  if (!options.only_if && !options.completion_queue) return nullptr;
  auto* extra = new (arena().take(sizeof(TaskExtra))) TaskExtra;
  extra->completion_queue = options.completion_queue;
  if (options.only_if) {
    extra->has_predicate = true;
    extra->comparison = options.only_if->comparison;
    extra->value = options.only_if->value;
    extra->element = new (arena().take(sizeof(ChipTensor))) ChipTensor(graph::to_chip_tensor(options.only_if->element));
  }
  return extra;
}

void GraphState::make_empty(Task& task) {
  task.plan = {};
  task.plan.cores = Cores::none;
}

void GraphState::fill(Task& task, const Submission& submission) {
  task_is_recorded_ = false;
  TaskPlan& plan = task.plan;
  plan.entry = submission.entry;
  plan.name = submission.name;
  plan.cores = submission.cores;
  plan.blocks = submission.options.blocks;
  plan.start = submission.options.start_together ? BlockStart::together : BlockStart::separate;
  plan.priority = submission.options.priority;
  task.where = submission.where;
  if (submission.cores == Cores::none) {
    plan.counter = submission.counter;
  } else {
    plan.extra = extra_of(submission);
  }
  plan.expected = submission.expected;
  if (submission.cluster != nullptr) {
    auto* kernels = new (arena().take(sizeof(ClusterKernels))) ClusterKernels;
    const auto set = [&](std::size_t place, const Kernel* kernel) {
      if (kernel == nullptr) return;
      kernels->entry[place] = kernel->function;
      kernels->name[place] = kernel->name;
    };
    set(0, submission.cluster->cube);
    set(1, submission.cluster->vector[0]);
    set(2, submission.cluster->vector[1]);
    plan.cluster = kernels;
  }
  const std::size_t count = submission.arguments.size() + (submission.options.completion_queue ? 1 : 0);
  if (count == 0) return;
  std::size_t tensors = 0;
  for (const Argument& argument : submission.arguments) tensors += argument.tensor() == nullptr ? 0U : 1U;
  // Descriptors first: they are aligned to more than slots are.
  const bool inline_args = count <= Task::kInlineArguments;
  const std::size_t slots = inline_args ? 0 : count;
  auto* memory = static_cast<std::byte*>(arena().take(tensors * sizeof(ChipTensor) + slots * sizeof(std::int64_t)));
  auto* descriptors = reinterpret_cast<ChipTensor*>(memory);
  plan.args =
      inline_args ? task.inline_args.data() : reinterpret_cast<std::int64_t*>(memory + tensors * sizeof(ChipTensor));
  plan.arg_count = static_cast<std::uint32_t>(count);
  plan.tensor_count = static_cast<std::uint32_t>(tensors);
  std::size_t tensor = 0;
  std::size_t scalar = tensors;
  for (const Argument& argument : submission.arguments) {
    if (argument.tensor() == nullptr) {
      plan.args[scalar++] = argument.slot();
      continue;
    }
    ChipTensor* descriptor = new (descriptors + tensor) ChipTensor(graph::to_chip_tensor(*argument.tensor()));
    plan.args[tensor++] = reinterpret_cast<std::int64_t>(descriptor);
  }
}

void GraphState::fill(OwnCore& own, const Submission& submission) {
  KernelCall& call = own.seat.call;
  call.entry = submission.entry;
  call.name = submission.name;
  if (scheduler_->profiling()) [[unlikely]]
    own.where = submission.where;
  std::size_t tensors = 0;
  for (const Argument& argument : submission.arguments) {
    const Tensor* tensor = argument.tensor();
    if (tensor == nullptr) continue;
    if (tensor->buffer().id != 0) parts_.heap.use(tensor->buffer(), newest() + 1);
    if (edges_ == Edges::inferred && argument.access() != Access::no_dependency && !tensor->is_empty())
      parts_.map.admit(*tensor);
    static_assert(sizeof(ChipTensor) == OwnCore::kTensorBytes);
    auto* memory = own.tensors.data() + tensors * sizeof(ChipTensor);
    ChipTensor* descriptor = new (memory) ChipTensor(graph::to_chip_tensor(*tensor));
    call.args[tensors++] = reinterpret_cast<std::int64_t>(descriptor);
  }
  for (const Argument& argument : submission.arguments) {
    if (argument.tensor() == nullptr) call.args[tensors++] = argument.slot();
  }
}

void GraphState::trace_edge(TaskId task, TaskId earlier, const Tensor* because, const Place& where) {
  const std::uint64_t now = ticks();
  TextId tensor = 0;
  if (because != nullptr && because->buffer().space == MemorySpace::host) {
    const std::string name = parts_.memory.name_of(reinterpret_cast<const void*>(because->address()));
    // Without the position in it.
    tensor = events::text(name.substr(0, name.find('+')));
  }
  const std::uint64_t graph = collects() ? collected().number() : 0;
  const auto number = [&](TaskId id) { return NamedTask{.id = id, .graph = graph}.event_number(); };
  events::record({.begin = now,
                  .end = now,
                  .kind = EventKind::edge,
                  .rank = parts_.event_rank,
                  .object = tensor,
                  .place = events::text_of(where),
                  .a = number(task),
                  .b = number(earlier),
                  .c = parts_.memory.checked().id()});
}

template <class Live, class Depend>
void GraphState::link(TaskId id, const Submission& submission, Live&& live, Depend&& depend) {
  const Tensor* because = nullptr;
  const bool traced = events::tracing();
  const auto found = [&](TaskId earlier) {
    depend(earlier);
    if (traced) [[unlikely]]
      trace_edge(id, earlier, because, submission.where);
  };
  for (const Argument& argument : submission.arguments) {
    if (argument.tensor() == nullptr || argument.tensor()->buffer().id == 0) continue;
    parts_.heap.use(argument.tensor()->buffer(), id);
  }
  for (const Argument& argument : submission.arguments) {
    if (argument.tensor() == nullptr || argument.access() == Access::no_dependency) continue;
    if (edges_ == Edges::named && argument.tensor()->buffer().space != MemorySpace::token) continue;
    if (argument.tensor()->is_empty()) continue;
    because = argument.tensor();
    parts_.map.record(graph::view_of(*argument.tensor()), access_of(argument.access()), id, live, found);
    task_is_recorded_ = true;
  }
  for (const Tensor& token : submission.options.tokens) {
    because = &token;
    parts_.map.record(graph::view_of(token), graph::Use::read, id, live, found);
  }
  if (submission.options.only_if && submission.cores != Cores::none) {
    const Tensor& element = submission.options.only_if->element;
    if (element.buffer().id != 0) parts_.heap.use(element.buffer(), id);
    because = &element;
    if (edges_ == Edges::inferred) {
      parts_.map.record(graph::view_of(element), graph::Use::read, id, live, found);
      task_is_recorded_ = true;
    }
  }
  because = nullptr;
  for (const TaskId earlier : submission.options.after) found(earlier);
}

TaskId GraphState::submit(const Submission& submission) {
  const TaskOptions& options = submission.options;
  // What most submissions are need not be looked at closely.
  const bool plain = options.blocks == 1 && !options.start_together && options.after.empty() && !options.only_if &&
                     !options.completion_queue;
  if (!plain || submission.arguments.size() > kKernelArguments) check(submission);
  return collects() ? collect(submission) : stream(submission);
}

TaskId GraphState::run_in_place(OwnCore& own, const Submission& submission) {
  Scheduler& scheduler = *scheduler_;
  fill(own, submission);
  if (const TaskId id = scheduler.run_in_place()) return id;
  Task& task = scheduler.begin();
  const TaskId id = task.id;
  fill(task, submission);
  // It has nobody to wait for, but others may have to wait for it.
  link(
      id, submission, [](TaskId) { return false; }, [](TaskId) {});
  scheduler.go_on_with(task);
  return id;
}

TaskId GraphState::stream(const Submission& submission) {
  Scheduler& scheduler = *scheduler_;
  // For `baton check`, order is what edges say, also to tasks that happen to be complete.
  const bool checked = scheduler.profiling() && is_checked();
  if (kind_of(submission) == TaskKind::vector && !checked) {
    if (OwnCore* own = scheduler.own_core_for(submission.entry)) return run_in_place(*own, submission);
  }
  Task& task = scheduler.begin();
  try {
    fill(task, submission);
    link(
        task.id, submission, [&](TaskId id) { return checked || scheduler.live(id); },
        [&](TaskId id) { scheduler.depend(task, id); });
  } catch (...) {
    // A task that is recorded hides those before it from those after it, so it must take part, but it does nothing.
    if (task_is_recorded_) {
      make_empty(task);
      scheduler.submit(task);
    } else {
      scheduler.abandon(task);
    }
    throw;
  }
  const TaskId id = task.id;
  scheduler.submit(task);
  if (id % TaskBlock::kTasks == 0) forget_complete();
  return id;
}

TaskId GraphState::collect(const Submission& submission) {
  if (capture_ == nullptr && parts_.batch->is_large()) run_batch();
  CapturedTasks& tasks = collected();
  const TaskId before = collected_from();
  Task& task = tasks.begin();
  const TaskId id = before + task.id;
  try {
    fill(task, submission);
    link(
        id, submission, [&](TaskId earlier) { return earlier > before && tasks.unordered(earlier - before); },
        [&](TaskId earlier) {
          if (earlier > before) tasks.depend(earlier - before);
        });
  } catch (...) {
    // As in stream().
    if (task_is_recorded_) {
      make_empty(task);
      if (capture_ != nullptr) capture_->add_submission({}, edges_);
      tasks.end();
    } else {
      tasks.abandon();
    }
    throw;
  }
  if (capture_ != nullptr) remember(task, submission);
  tasks.end();
  return id;
}

void GraphState::remember(const Task& task, const Submission& submission) {
  std::size_t tensor = 0;
  for (const Argument& argument : submission.arguments) {
    if (argument.tensor() == nullptr) continue;
    capture_->add_descriptor(*argument.tensor(), argument.access(),
                             *reinterpret_cast<ChipTensor*>(task.plan.args[tensor++]));
  }
  capture_->add_submission(submission.arguments, edges_);
  if (const TaskExtra* extra = task.plan.extras(); extra != nullptr && extra->has_predicate) {
    capture_->add_descriptor(submission.options.only_if->element, Access::in, *extra->element);
  }
}

void GraphState::run_batch() {
  parts_.batch->run();
  parts_.map.forget_before(newest() + 1);
  parts_.heap.forget_before(newest() + 1);
}

void GraphState::submit_graph(CapturedState& graph, std::span<const Binding> bindings, const Place& where) {
  if (graph.owner() != parts_.chip) {
    fail(Code::invalid_argument, "a captured graph runs on the chip that captured it, and this is another one");
  }
  const Edges before = edges_;
  const std::uint64_t scope = open_scope(before, where);
  try {
    graph.submit_to(*this, bindings, where);
  } catch (...) {
    close_scope(scope, before);
    throw;
  }
  close_scope(scope, before);
}

TaskId GraphState::newest() const noexcept {
  if (capture_ != nullptr) return capture_->tasks().newest();
  return parts_.batch != nullptr ? parts_.batch->newest() : scheduler_->blocks().newest();
}

Arena& GraphState::arena() noexcept { return collects() ? collected().arena() : scheduler_->blocks().arena(); }

void GraphState::wait(TaskId task) {
  if (capture_ != nullptr) {
    fail(Code::invalid_argument, "wait: nothing runs while a graph is captured; do it before or after Chip::run()");
  }
  if (parts_.batch == nullptr) return scheduler_->wait(task);
  if (task > parts_.batch->complete()) run_batch();
}

void GraphState::forget_complete() {
  const TaskId oldest = scheduler_->blocks().oldest();
  if (!is_checked()) parts_.map.forget_before(oldest);
  parts_.heap.forget_before(oldest);
}

Tensor GraphState::submit_notification_wait(const std::int32_t* signal, std::int32_t expected, const Place& where) {
  if (!parts_.memory.known(signal, sizeof *signal)) {
    fail(Situation::signal_nowhere, "a wait for a notification outside of any window and any tensor ({})",
         parts_.memory.describe_nearest(signal));
  }
  const Tensor token = Tensor::token(++last_token_);
  const Argument argument(Access::out, token);
  const TaskOptions options;
  submit({.arguments = {&argument, 1}, .options = options, .counter = signal, .expected = expected, .where = where});
  return token;
}

Tensor GraphState::output(DType dtype, std::span<const std::int64_t> shape, const Place& where) {
  std::uint64_t bytes = size_of(dtype);
  for (const std::int64_t extent : shape) {
    if (extent <= 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) {
      fail(Code::invalid_argument, "an output with an extent of {} at {}:{} is not possible", extent, where.file,
           where.line);
    }
  }
  // Its producer is the next task.
  while (true) {
    if (const auto buffer = parts_.heap.try_allocate(bytes, newest() + 1)) {
      if (parts_.profiler != nullptr) {
        std::uint64_t& most = parts_.profiler->high_water.output_bytes;
        most = std::max(most, parts_.heap.bytes_in_use());
      }
      if (capture_ != nullptr) capture_->add_output(*buffer);
      if (is_checked()) {
        parts_.memory.note_fresh(reinterpret_cast<const void*>(buffer->address), buffer->bytes);
      }
      return Tensor(*buffer, dtype, shape);
    }
    if (capture_ != nullptr) {
      fail(Situation::output_heap_full,
           "an output of {} bytes does not fit beside the {} bytes of the captured graph's others", bytes,
           parts_.heap.bytes_in_use());
    }
    const TaskId last = parts_.heap.must_complete();
    if (parts_.batch != nullptr) {
      run_batch();
      continue;
    }
    while (scheduler_->oldest_incomplete() <= last) {
      // Throws if it failed: a failed task stays the oldest until the run ends.
      scheduler_->wait(scheduler_->oldest_incomplete());
    }
    parts_.heap.forget_before(scheduler_->oldest_incomplete());
  }
}

Tensor GraphState::filled_output(DType dtype, std::span<const std::int64_t> shape, const void* value,
                                 const Place& where) {
  const Tensor made = output(dtype, shape, where);
  ElementBytes element{};
  std::memcpy(element.data(), value, size_of(dtype));
  fill(made, element);
  return made;
}

void GraphState::fill(const Tensor& output, const ElementBytes& value) {
  if (capture_ != nullptr) return capture_->fill_before_runs(output, value);
  // The tasks that used these bytes before are complete.
  fill_elements(*parts_.device->memory(), output, value);
}

std::uint64_t GraphState::open_scope(Edges edges, const Place& where) {
  edges_ = edges;
  return parts_.heap.open_scope(where);
}

void GraphState::close_scope(std::uint64_t scope, Edges edges_after) {
  parts_.heap.close_scope(scope);
  edges_ = edges_after;
}

Tensor GraphState::element(const Tensor& tensor, DType dtype, std::span<const std::int64_t> position) const {
  if (tensor.dtype() != dtype) {
    fail(Code::invalid_argument, "an element of {} was asked for as {}", tensor.describe(), name_of(dtype));
  }
  if (static_cast<int>(position.size()) != tensor.dims()) {
    fail(Situation::tensor_shape, "{} numbers name no element of {}", position.size(), tensor.describe());
  }
  Tensor at = tensor;
  for (std::size_t dim = 0; dim < position.size(); ++dim) {
    at = at.slice_dim(static_cast<int>(dim), position[dim], position[dim] + 1);
  }
  return at;
}

void GraphState::wait_for(const Tensor& tensor, graph::Use access, const char* action) {
  if (tensor.buffer().id != 0) parts_.heap.use(tensor.buffer(), 0);
  std::vector<TaskId> earlier;
  const auto live = [&](TaskId id) {
    if (collects()) return id > collected_from();
    return is_checked() || scheduler_->live(id);
  };
  parts_.map.query(graph::view_of(tensor), access, live, [&](TaskId id) { earlier.push_back(id); });
  if (capture_ != nullptr && (!earlier.empty() || tensor.buffer().id != 0)) {
    fail(
        Code::invalid_argument,
        "{} of {}: tasks of the graph that is being captured use it, and nothing runs meanwhile; do it before or after "
        "Chip::run()",
        action, tensor.describe());
  }
  for (const TaskId id : earlier) wait(id);
}

void GraphState::note_host_access(const Tensor& element, CheckedUse use, const char* operation) const {
  if (!is_checked()) return;
  parts_.memory.note_touch(reinterpret_cast<const void*>(element.address()), {.row_bytes = size_of(element.dtype())},
                           use, operation, {});
}

void GraphState::get_element(const Tensor& tensor, DType dtype, std::span<const std::int64_t> position, void* into) {
  const Tensor at = element(tensor, dtype, position);
  wait_for(at, graph::Use::read, "get");
  note_host_access(at, CheckedUse::read, "get");
  parts_.device->memory()->copy_out(into, at.address(), size_of(dtype));
}

void GraphState::set_element(const Tensor& tensor, DType dtype, std::span<const std::int64_t> position,
                             const void* from) {
  const Tensor at = element(tensor, dtype, position);
  wait_for(at, graph::Use::write, "set");
  note_host_access(at, CheckedUse::write, "set");
  parts_.device->memory()->copy_in(at.address(), from, size_of(dtype));
  // It may be what a deferred task waits for.
  parts_.memory.tell_change(reinterpret_cast<const void*>(at.address()));
}

}  // namespace baton::chip
