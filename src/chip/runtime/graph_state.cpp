#include "chip/runtime/graph_state.hpp"

#include <string>

#include <tensor.h>

#include "base/fail.hpp"
#include "base/recorder.hpp"
#include "chip/cores/kernel_call.hpp"
#include "chip/graph/chip_tensor.hpp"

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

}  // namespace

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
  if (because != nullptr && because->buffer().space == MemorySpace::host && events::tracing()) {
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
  const bool traced = events::wants(EventKind::edge);
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
      if (capture_ == nullptr) parts_.batch->take();
    } else {
      tasks.abandon();
    }
    throw;
  }
  if (capture_ != nullptr) remember(task, submission);
  tasks.end();
  if (capture_ == nullptr) parts_.batch->take();
  return id;
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

std::uint64_t GraphState::open_scope(Edges edges, const Place& where) {
  edges_ = edges;
  return parts_.heap.open_scope(where);
}

void GraphState::close_scope(std::uint64_t scope, Edges edges_after) {
  parts_.heap.close_scope(scope);
  edges_ = edges_after;
}

}  // namespace baton::chip
