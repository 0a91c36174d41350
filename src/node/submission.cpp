// From submissions to tasks with edges.
#include <algorithm>

#include "base/checked_order.hpp"
#include "base/fail.hpp"
#include "node/code_address.hpp"
#include "node/inside_run.hpp"
#include "node/program_message.hpp"
#include "node/tokens.hpp"
#include "node/worker_state.hpp"

namespace baton::node {
namespace {

graph::Use graph_access_of(TensorArgType type) {
  switch (type) {
    case TensorArgType::input:
    case TensorArgType::no_dep: return graph::Use::read;
    case TensorArgType::output:
    case TensorArgType::output_existing: return graph::Use::write;
    case TensorArgType::inout: return graph::Use::read_write;
  }
  return graph::Use::read_write;
}

}  // namespace

void WorkerState::check_chip(const char* what, int chip) const {
  if (chip < 0 || chip >= chip_count()) {
    fail(Situation::no_such_chip, "{}: there is no chip {}; this node has chips 0 to {}", what, chip, chip_count() - 1);
  }
}

/// Whether the run can still submit, and to this chip.
void WorkerState::check_run(const RunState& run, int chip) {
  if (run.failed) std::rethrow_exception(run.root_cause());
  if (chip != kHost && !link(chip).death.empty()) {
    fail(Code::rank_failed, "{} died: {}", name_of(chip), link(chip).death);
  }
}

void WorkerState::await_room(Lock& lock) {
  if (units_.size() < options_.task_window) return;
  static_cast<void>(
      wait_locked(lock, Deadline::never(), Replies::ignore, [this] { return units_.size() < options_.task_window; }));
}

bool WorkerState::full() {
  const Lock lock(mutex_);
  if (units_.size() < options_.task_window) return false;
  progress();
  return units_.size() >= options_.task_window;
}

Unit& WorkerState::add_unit(RunState* run, int chip, std::uint32_t callable, const Place& where) {
  Unit& made = units_.emplace_back();
  made.id = first_ + units_.size() - 1;
  made.group_first = made.id;
  made.chip = chip;
  made.callable = callable;
  made.run = run;
  made.where = where;
  if (run != nullptr) {
    ++run->tasks;
    ++run->pending;
  }
  if (is_checked()) checked_.submitted({}, made.id);
  ++blocked_;
  return made;
}

void WorkerState::record(Unit& made, const TaskArgs& args, std::span<const Tensor> tokens) {
  const graph::TaskId id = made.id;
  // For `baton check`, order is what edges say, also to tasks that happen to be complete.
  const bool checked = is_checked();
  const bool noted = events::wants(EventKind::edge);
  const auto use = [&](const Tensor& tensor, graph::Use how) {
    map_.record(
        graph::view_of(tensor), how, id, [&](graph::TaskId earlier) { return checked || matters(earlier); },
        [&](graph::TaskId earlier) {
          if (noted) {
            edges_.find(id, earlier, [&](graph::TaskId one) { checked_.waits_for(kNoRank, id, one); });
          }
          if (matters(earlier)) depend(unit(id), earlier);
        });
  };
  for (const TaskArgs::Arg& arg : args.all()) {
    if (arg.is_tensor && arg.type != TensorArgType::no_dep) use(arg.tensor, graph_access_of(arg.type));
  }
  for (const Tensor& token : tokens) use(token, graph::Use::read);
}

bool WorkerState::matters(graph::TaskId id) const noexcept {
  if (live(id)) return true;
  // A member that is hidden has a smaller number: while it is live, none behind it is forgotten.
  if (id < first_ || id - first_ >= units_.size() || !units_[id - first_].entangled) return false;
  const Unit& member = units_[id - first_];
  for (graph::TaskId one = member.group_first; one < member.group_first + member.group_size; ++one) {
    if (live(one)) return true;
  }
  return false;
}

void WorkerState::depend(Unit& made, graph::TaskId earlier) {
  Unit& before = unit(earlier);
  if (before.group_first == made.group_first) {
    // Members of a group do not wait for each other, but this one waits for what the other was found to wait for, and
    // hides the other from those that come later.
    const std::vector<graph::TaskId> found = before.found;
    for (const graph::TaskId one : found) {
      if (live(one)) depend_on_one(made, one);
    }
    for (graph::TaskId id = made.group_first; id <= made.id; ++id) unit(id).entangled = true;
    return;
  }
  if (!before.entangled) return depend_on_one(made, earlier);
  const graph::TaskId first = before.group_first;
  const std::uint32_t size = before.group_size;
  for (graph::TaskId id = first; id < first + size; ++id) {
    if (live(id)) depend_on_one(made, id);
  }
}

void WorkerState::depend_on_one(Unit& made, graph::TaskId earlier) {
  Unit& before = unit(earlier);
  if (made.group_size > 1) made.found.push_back(earlier);
  // A chip works in the order of submission.
  if (before.chip == made.chip && made.chip != kHost) return;
  before.dependents.push_back(made.id);
  ++made.unmet;
}

std::uint32_t WorkerState::number_of(const Callable& callable) {
  const auto add = [&] {
    callables_.push_back({callable, callable.name()});
    return static_cast<std::uint32_t>(callables_.size() - 1);
  };
  if (!callable.library().empty()) {
    const char kind = callable.kind() == Callable::Kind::kernel ? 'k' : 'o';
    const std::string key = callable.kind() == Callable::Kind::program
                                ? identity_of(callable.parts())
                                : callable.library() + '\n' + kind + callable.name();
    const auto [found, fresh] = in_libraries_.try_emplace(key, 0U);
    if (fresh) found->second = add();
    return found->second;
  }
  const void* code = callable.kind() == Callable::Kind::kernel
                         ? reinterpret_cast<const void*>(callable.kernel().function)
                         : reinterpret_cast<const void*>(callable.function());
  if (code == nullptr) fail(Code::invalid_argument, "there is no code to run: the callable is empty");
  const auto [found, fresh] = linked_.try_emplace(code, 0U);
  if (fresh) found->second = add();
  return found->second;
}

std::vector<OfferedLibrary> WorkerState::offers_for(int chip, const Callable& callable) {
  std::vector<OfferedLibrary> offers;
  const auto add = [&](const std::string& path) {
    if (path.empty()) return;
    if (const auto offer = chips_->offer(static_cast<std::size_t>(chip), path)) offers.push_back({path, *offer});
  };
  add(callable.library());
  if (callable.kind() != Callable::Kind::program) return offers;
  for (const ProgramKernel& kernel : callable.parts().kernels) add(kernel.library);
  return offers;
}

void WorkerState::define(int chip, std::uint32_t number) {
  std::vector<bool>& defined = link(chip).defined;
  if (number < defined.size() && defined[number]) return;
  if (defined.size() <= number) defined.resize(number + 1);
  const Callable& callable = callables_[number].callable;
  const bool is_kernel = callable.kind() == Callable::Kind::kernel;
  CallableWire kind = is_kernel ? CallableWire::linked_kernel : CallableWire::orchestration;
  CodeAddress code;
  CodeAddress signature;
  if (callable.kind() == Callable::Kind::program) {
    kind = CallableWire::program;
  } else if (!callable.library().empty()) {
    kind = is_kernel ? CallableWire::library_kernel : CallableWire::library_orchestration;
    code.file = callable.library();
  } else if (is_kernel) {
    code = find_code(reinterpret_cast<const void*>(callable.kernel().function));
    if (callable.kernel().signature != nullptr) signature = find_code(callable.kernel().signature);
    // Made at run time, elsewhere: the chip does without.
    if (signature.file != code.file) signature = {};
  } else {
    code = find_code(reinterpret_cast<const void*>(callable.function()));
  }
  MessageWriter message;
  message.begin(MessageKind::define);
  message.put(number);
  message.put(kind);
  message.put_text(callables_[number].name);
  message.put(callable.kernel().core);
  message.put_text(code.file);
  message.put(code.offset);
  message.put(signature.offset);
  put_offers(message, offers_for(chip, callable));
  if (kind == CallableWire::program) put_program(message, callable.parts());
  send(chip, 0, message.finish());
  defined[number] = true;
}

void WorkerState::encode(const TaskArgs& args, std::uint32_t callable, int chip, const TaskConfig& config,
                         const RunState& run, graph::TaskId task) {
  std::uint32_t tensors = 0;
  check_tokens(args);
  check_tokens(config.tokens);
  for (const TaskArgs::Arg& arg : args.all()) tensors += arg.is_tensor ? 1U : 0U;
  message_.begin(MessageKind::run);
  message_.put(TaskWire{run.id, task, checked_.id, callable, static_cast<std::uint32_t>(args.size()), tensors,
                        config.blocks, config.priority, config.start_together ? 1U : 0U});
  for (const TaskArgs::Arg& arg : args.all()) {
    if (arg.is_tensor) {
      put_tensor(message_, arg.tensor, arg.type, resolve(arg.tensor, chip));
    } else {
      put_scalar(message_, arg.scalar);
    }
  }
}

void WorkerState::enqueue(Unit& made, std::span<const std::byte> message) {
  ChipLink& to = link(made.chip);
  if (made.unmet == 0 && to.queue.empty()) {
    made.phase = Unit::Phase::sent;
    --blocked_;
    send(made.chip, made.id, message);
    return;
  }
  made.message.assign(message.begin(), message.end());
  to.queue.push_back(made.id);
}

graph::TaskId WorkerState::submit(RunState& run, const Callable& callable, const TaskArgs& args, int chip,
                                  const TaskConfig& config, const Place& where) {
  check_chip("submit_next_level", chip);
  Lock lock(mutex_);
  progress();
  await_room(lock);
  check_run(run, chip);
  const std::uint32_t number = number_of(callable);
  // All checks come before the first record: a task that is recorded hides those before it, so it must run.
  encode(args, number, chip, config, run, first_ + units_.size());
  define(chip, number);
  Unit& made = add_unit(&run, chip, number, where);
  record(made, args, config.tokens);
  const graph::TaskId id = made.id;
  enqueue(made, message_.finish());
  settle();
  return id;
}

graph::TaskId WorkerState::submit_group(RunState& run, const Callable& callable, std::span<const TaskArgs> args_list,
                                        std::span<const int> chips, const TaskConfig& config, const Place& where) {
  if (chips.empty() || chips.size() != args_list.size()) {
    fail(Code::invalid_argument, "submit_next_level_group: {} lists of arguments for {} chips", args_list.size(),
         chips.size());
  }
  for (const int chip : chips) {
    check_chip("submit_next_level_group", chip);
    if (std::count(chips.begin(), chips.end(), chip) > 1) {
      fail(Code::invalid_argument,
           "submit_next_level_group: chip {} is named twice; its members would wait for each "
           "other forever",
           chip);
    }
  }
  Lock lock(mutex_);
  progress();
  await_room(lock);
  for (const int chip : chips) check_run(run, chip);
  const std::uint32_t number = number_of(callable);
  std::vector<std::vector<std::byte>> messages;
  for (std::size_t i = 0; i < chips.size(); ++i) {
    encode(args_list[i], number, chips[i], config, run, first_ + units_.size() + i);
    const auto message = message_.finish();
    messages.emplace_back(message.begin(), message.end());
  }
  const graph::TaskId first = first_ + units_.size();
  if (events::wants(EventKind::edge)) edges_.add_group(first, static_cast<std::uint32_t>(chips.size()));
  for (std::size_t i = 0; i < chips.size(); ++i) {
    define(chips[i], number);
    Unit& made = add_unit(&run, chips[i], number, where);
    made.group_first = first;
    made.group_size = static_cast<std::uint32_t>(chips.size());
    record(made, args_list[i], config.tokens);
  }
  const bool entangled = std::any_of(units_.begin() + static_cast<std::ptrdiff_t>(first - first_), units_.end(),
                                     [](const Unit& one) { return one.entangled; });
  // Under one lock: any two groups come to all of their chips in the same order.
  for (std::size_t i = 0; i < chips.size(); ++i) {
    unit(first + i).entangled = entangled;
    enqueue(unit(first + i), messages[i]);
  }
  settle();
  return first + chips.size() - 1;
}

graph::TaskId WorkerState::submit_sub(RunState& run, SubFunction function, const TaskArgs& args, const Place& where) {
  if (!function) fail(Code::invalid_argument, "submit_sub: the function is empty");
  auto task = std::make_unique<SubTask>();
  task->function = [this, function = std::move(function)](const ChipArgs& given) {
    const InsideRun inside(*this);
    function(given);
  };
  Lock lock(mutex_);
  progress();
  await_room(lock);
  check_run(run, kHost);
  check_tokens(args);
  for (const TaskArgs::Arg& arg : args.all()) {
    if (!arg.is_tensor) {
      task->scalars.push_back(arg.scalar);
      continue;
    }
    if (is_token(arg.tensor)) continue;  // it has no data that a function could use
    task->memory.push_back(buffer_of(arg.tensor).shared.memory);
    task->tensors.push_back(arg.tensor);
  }
  Unit& made = add_unit(&run, kHost, kNoCallable, where);
  made.sub = std::move(task);
  record(made, args, {});
  const graph::TaskId id = made.id;
  if (made.unmet == 0) {
    made.phase = Unit::Phase::sent;
    --blocked_;
    sub_workers_->start(id, std::move(*made.sub));
  }
  settle();
  return id;
}

void WorkerState::wait(RunState& run, graph::TaskId task) {
  Lock lock(mutex_);
  if (task == 0 || task >= first_ + units_.size())
    fail(Code::invalid_argument, "there is no task {} to wait for", task);
  // The last member of a group stands for all of them.
  const graph::TaskId first = task >= first_ ? unit(task).group_first : edges_.first_of_group(task);
  static_cast<void>(wait_locked(lock, Deadline::never(), Replies::ignore, [&] {
    if (run.failed) return true;
    for (graph::TaskId id = first; id <= task; ++id) {
      if (live(id)) return false;
    }
    return true;
  }));
  if (is_checked()) {
    for (graph::TaskId id = first; id <= task; ++id) checked_.awaited({}, id);
  }
  check_run(run, kHost);
}

}  // namespace baton::node
