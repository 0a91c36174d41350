#include "platform/cuda/task_stream.hpp"

#include <algorithm>
#include <cstring>

#include <baton/error.hpp>

#include "platform/cuda/graph.hpp"
#include "platform/cuda/run_failure.hpp"
#include "platform/shared/descriptor.hpp"

namespace baton::cuda {
namespace {

constexpr std::size_t kLendable = std::size_t{1} << 20U;
constexpr std::size_t kLentAlignment = 128;

/// The next piece of a command, behind the one before.
class Writer {
 public:
  explicit Writer(void* to) : at_(static_cast<std::byte*>(to)) {}
  void put(const void* from, std::size_t bytes) {
    std::memcpy(at_, from, bytes);
    at_ += bytes;
  }
  template <class Record>
  void put(const Record& record) {
    put(&record, sizeof record);
  }

 private:
  std::byte* at_;
};

/// What a task has beside tensors.
void put_others(Writer& writer, const BatonDeviceTask& task, std::span<const Awaited> awaited) {
  if ((task.flags & (BATON_TASK_PREDICATE | BATON_TASK_COUNTER)) != 0) {
    writer.put(Condition{task.address, task.value, task.comparison, task.dtype});
  }
  writer.put(awaited.data(), awaited.size_bytes());
  for (const BatonDeviceArgument& argument : std::span(task.arguments, task.argument_count)) {
    if (argument.access == BATON_ARGUMENT_SCALAR) writer.put(argument.address);
  }
}

}  // namespace

TaskStream::TaskStream(Gpu& gpu, Residence& cores)
    : gpu_(gpu),
      cores_(cores),
      core_count_(static_cast<std::size_t>(gpu.core_count())),
      assignment_(core_count_),
      run_(cores.run()) {}

void TaskStream::begin(const BatonRunOptions& options) {
  const std::span given(options.extents, options.extent_count);
  const auto same = [](const Extent& a, const BatonDeviceExtent& b) {
    return a.begin == b.address && a.bytes == b.bytes;
  };
  const bool was_timed = is_timed();
  const bool will_be_timed = options.note_block != nullptr;
  if (was_timed != will_be_timed || options_.wait_limit_ns != options.wait_limit_ns ||
      options_.run_limit_ns != options.run_limit_ns || !std::ranges::equal(extents_, given, same)) {
    extents_.clear();
    for (const BatonDeviceExtent& extent : given) extents_.push_back({extent.address, extent.bytes});
    described_ = false;
  }
  options_ = options;
  options_.extents = nullptr;
}

void TaskStream::describe() {
  // Tasks that are under way may read what was there before.
  retired_.push_back(std::move(extents_there_));
  retired_.push_back(std::move(description_));
  const std::size_t bytes = extents_.size() * sizeof(Extent);
  extents_there_ = gpu_.memory(bytes, GpuMemory::Content::anything);
  description_ = gpu_.memory(sizeof(Run), GpuMemory::Content::anything);
  if (bytes != 0) gpu_.copy_in("telling the GPU of buffers", extents_there_.address(), extents_.data(), bytes);
  run_.extents = extents_there_.as<const Extent>();
  run_.extent_count = static_cast<std::uint32_t>(extents_.size());
  run_.wait_limit_ns = options_.wait_limit_ns;
  run_.run_limit_ns = options_.run_limit_ns;
  run_.cube_buffers = cube_buffers_.as<unsigned char>();
  run_.times = is_timed() ? static_cast<UnitTimes*>(times_->get()) : nullptr;
  gpu_.copy_in("describing tasks to the GPU", description_.address(), &run_, sizeof run_);
  version_ = cores_.new_version();
  described_ = true;
}

void TaskStream::start(const LoadedKernel* kernel, bool uses_cube, std::uint32_t& failed_task) {
  const bool has_code = program_ != nullptr && (kernel == nullptr || program_->has(kernel));
  const bool has_buffers = !uses_cube || cube_buffers_.address() != 0;
  if (!running_ || !has_code || !has_buffers) {
    wait_for_all(failed_task);
    running_.reset();
    if (!has_code) program_ = gpu_.shared().program();
    if (!has_buffers) cube_buffers_ = gpu_.memory(run_.cube_bytes * core_count_);
    const std::uint32_t spans = gpu_.shared().spans_gpus() ? 1U : 0U;
    Run told = run_;
    told.spans_gpus = spans;
    gpu_.describe_order(told, *program_);
    described_ = described_ && has_buffers && told == run_;
    run_ = told;
    running_.emplace(gpu_.shared());
    cores_.use(program_);
    if (is_timed()) static_cast<void>(gpu_.clock(*program_));
    if (is_timed() && !times_) {
      times_ = std::make_unique<PinnedMemory>(gpu_.shared(), core_count_ * kTimesOfCore * sizeof(UnitTimes));
      untold_.resize(core_count_);
    }
    last_kernel_ = nullptr;
    if (resets_ != cores_.resets()) assignment_.forget_commands();
    resets_ = cores_.resets();
    gpu_.wait_for_default_stream();
  }
  if (!described_) describe();
}

void TaskStream::submit(const BatonDeviceTask& task, std::span<const std::uint32_t> predecessors,
                        std::uint32_t& failed_task) {
  failed_task = BATON_NO_TASK;
  if (task.cores == BATON_TASK_CLUSTER) return run_alone(task, failed_task);
  const auto* kernel = reinterpret_cast<const LoadedKernel*>(task.kernels[0]);
  start(kernel, task.cores == BATON_TASK_CUBE, failed_task);
  if (kernel != last_kernel_) {
    last_kernel_ = kernel;
    last_entry_ = kernel == nullptr ? 0 : program_->address_of(kernel);
  }
  const std::uint32_t blocks = std::max<std::uint32_t>(task.blocks, 1);
  assignment_.begin_task();
  kernels_.push_back(kernel);
  // Blocks that wait for each other are on cores of their own, and come to them together.
  for (std::uint32_t begin = 0; begin < blocks;) {
    const auto count = std::min(blocks - begin, static_cast<std::uint32_t>(core_count_));
    const std::size_t first = blocks == 1 ? assignment_.core_for(cores_, predecessors) : assignment_.cores_for(count);
    const auto core_of = [&](std::uint32_t i) { return (first + i) % core_count_; };
    for (std::uint32_t i = 0; i < count; ++i) {
      wait_until([&] { return cores_.has_room(core_of(i)); }, failed_task);
    }
    if (is_timed()) keep_places(first, count, begin, failed_task);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t core = core_of(i);
      write(core, task, begin + i, assignment_.awaited_by(core, cores_, predecessors), failed_task);
      assignment_.add_block(core, cores_.given(core));
    }
    cores_.ring();
    begin += count;
  }
}

void TaskStream::run_alone(const BatonDeviceTask& task, std::uint32_t& failed_task) {
  wait_for_all(failed_task);
  tell_times();
  const auto number = static_cast<std::uint32_t>(kernels_.size());
  assignment_.begin_task();
  kernels_.push_back(nullptr);
  running_.reset();
  std::vector<BatonDeviceExtent> extents;
  for (const Extent& extent : extents_) extents.push_back({extent.begin, extent.bytes});
  // The only task of a graph has another number there.
  struct Told {
    const BatonRunOptions& to;
    std::uint32_t number;
  } told{options_, number};
  BatonRunOptions options = options_;
  options.extents = extents.data();
  options.extent_count = extents.size();
  options.context = &told;
  if (options_.has_lost_peers != nullptr) {
    options.has_lost_peers = [](void* context) {
      const BatonRunOptions& to = static_cast<Told*>(context)->to;
      return to.has_lost_peers(to.context);
    };
  }
  if (options_.name_address != nullptr) {
    options.name_address = [](void* context, std::uint64_t address, char* text, std::size_t bytes) {
      const BatonRunOptions& to = static_cast<Told*>(context)->to;
      to.name_address(to.context, address, text, bytes);
    };
  }
  if (options_.note_block != nullptr) {
    options.note_block = [](void* context, const BatonBlockTimes* times) {
      const Told& me = *static_cast<Told*>(context);
      BatonBlockTimes renumbered = *times;
      renumbered.task = me.number;
      me.to.note_block(me.to.context, &renumbered);
    };
  }
  const std::uint64_t first[2] = {0, 0};
  try {
    Graph graph(gpu_, {&task, 1}, first, nullptr);
    graph.run(options, failed_task);
  } catch (...) {
    if (failed_task != BATON_NO_TASK) failed_task = number;
    forget();
    throw;
  }
}

void TaskStream::keep_places(std::size_t first, std::uint32_t count, std::uint32_t begin, std::uint32_t& failed_task) {
  const auto core_of = [&](std::uint32_t i) { return (first + i) % core_count_; };
  bool is_full = false;
  for (std::uint32_t i = 0; i < count; ++i) is_full = is_full || untold_[core_of(i)] == kTimesOfCore;
  if (is_full) {
    wait_for_all(failed_task);
    tell_times();
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t core = core_of(i);
    ++untold_[core];
    timed_.push_back({static_cast<std::uint32_t>(kernels_.size() - 1), begin + i, static_cast<std::uint32_t>(core),
                      core * kTimesOfCore + static_cast<std::size_t>(cores_.given(core) % kTimesOfCore)});
  }
}

void TaskStream::tell_times() {
  if (timed_.empty()) return;
  const std::span times(static_cast<UnitTimes*>(times_->get()), core_count_ * kTimesOfCore);
  cuda::tell_times(timed_, times, gpu_.clock(*program_), options_);
  // One that does not come to its task leaves this.
  for (const TimedBlock& block : timed_) times[block.place] = {};
  timed_.clear();
  std::ranges::fill(untold_, 0);
}

void TaskStream::write(std::size_t core, const BatonDeviceTask& task, std::uint32_t block,
                       std::span<const Awaited> awaited, std::uint32_t& failed_task) {
  std::uint32_t tensors = 0;
  for (const BatonDeviceArgument& argument : std::span(task.arguments, task.argument_count)) {
    tensors += argument.access == BATON_ARGUMENT_SCALAR ? 0U : 1U;
  }
  const bool has_condition = (task.flags & (BATON_TASK_PREDICATE | BATON_TASK_COUNTER)) != 0;
  const std::uint32_t scalars = task.argument_count - tensors;
  const auto others = static_cast<std::uint32_t>((has_condition ? sizeof(Condition) : 0) +
                                                 awaited.size() * sizeof(Awaited) + scalars * sizeof(std::int64_t));
  TaskCommand command{};
  command.entry = last_entry_;
  command.task = static_cast<std::uint32_t>(kernels_.size() - 1);
  if ((task.flags & BATON_TASK_PREDICATE) != 0) command.flags |= kHasPredicate;
  if ((task.flags & BATON_TASK_COUNTER) != 0) command.flags |= kHasCounter;
  if (is_timed()) command.flags |= kTaskIsTimed;
  if (task.cores == BATON_TASK_CUBE) command.flags |= kTaskIsCube;
  if ((task.flags & BATON_TASK_QUEUE) != 0) {
    platforms::refuse_queue_without_scalar(task.flags, scalars);
    command.flags |= kTaskHasQueue;
  }
  command.block_index = block;
  command.block_count = std::max<std::uint32_t>(task.blocks, 1);
  command.tensors = static_cast<std::uint16_t>(tensors);
  command.waits = static_cast<std::uint16_t>(awaited.size());
  command.scalars = scalars;
  std::uint32_t bytes = task_bytes(tensors, others);
  std::array<std::uint32_t, kPlaceBytes / sizeof(std::uint32_t)> parts;  // what is written of it is read
  Writer writer(parts.data() + sizeof command / sizeof(std::uint32_t));
  const auto put_tensors = [&](Writer& to, std::size_t each) {
    for (const BatonDeviceArgument& argument : std::span(task.arguments, task.argument_count)) {
      if (argument.access == BATON_ARGUMENT_SCALAR) continue;
      const ChipTensor tensor = platforms::tensor_of(argument);
      to.put(&tensor, each);
    }
  };
  if (bytes <= kPlaceBytes) {
    put_tensors(writer, kTensorPart);
    put_others(writer, task, awaited);
  } else {
    command.flags |= kElsewhere;
    std::byte* const lent = lend(core, tensors * std::size_t{kTensorBytes} + others, failed_task);
    Writer elsewhere(lent);
    put_tensors(elsewhere, kTensorBytes);
    put_others(elsewhere, task, awaited);
    writer.put(reinterpret_cast<std::uint64_t>(lent));
    bytes = static_cast<std::uint32_t>(sizeof command + sizeof(std::uint64_t));
  }
  command.head = {CommandKind::task, static_cast<std::uint16_t>(words_of(bytes)), version_, description_.address()};
  std::memcpy(parts.data(), &command, sizeof command);
  cores_.write(core, parts.data(), command.head.words);
}

std::byte* TaskStream::lend(std::size_t core, std::size_t bytes, std::uint32_t& failed_task) {
  if (!lendable_) lendable_ = std::make_unique<PinnedMemory>(gpu_.shared(), kLendable);
  const std::size_t rounded = (bytes + kLentAlignment - 1) / kLentAlignment * kLentAlignment;
  if (lend_at_ + rounded > kLendable) lend_at_ = 0;
  const std::size_t end = lend_at_ + rounded;
  while (!lent_.empty()) {
    const Lent& oldest = lent_.front();
    const bool is_in_the_way = oldest.begin < end && lend_at_ < oldest.end;
    const bool is_done = cores_.has_ended(oldest.core, oldest.commands);
    if (!is_in_the_way && !is_done) break;
    if (!is_done) {
      wait_until([&] { return cores_.has_ended(oldest.core, oldest.commands); }, failed_task);
    }
    lent_.pop_front();
  }
  lent_.push_back({lend_at_, end, core, cores_.given(core) + 1});
  std::byte* const found = static_cast<std::byte*>(lendable_->get()) + lend_at_;
  lend_at_ = end;
  return found;
}

template <class Holds>
void TaskStream::wait_until(Holds&& holds, std::uint32_t& failed_task) {
  if (holds()) return;
  bool good = false;
  try {
    // Maybe of what is written already.
    cores_.ring();
    good = cores_.wait_until(options_, holds);
  } catch (const GpuDown& down) {
    const std::vector<const LoadedKernel*> kernels = std::move(kernels_);
    forget();
    raise_crash(down.result, kernels.size(), [&](std::size_t task) { return kernels[task]; });
  } catch (...) {
    forget();
    throw;
  }
  if (good) return;
  const std::vector<const LoadedKernel*> kernels = std::move(kernels_);
  cores_.reset();
  tell_times();
  forget();
  raise_failure(
      gpu_, options_, kernels.size(), [&](std::size_t task) { return kernels[task]; }, failed_task);
}

void TaskStream::wait_for_all(std::uint32_t& failed_task) {
  std::size_t core = 0;
  wait_until(
      [&] {
        while (core < core_count_ && cores_.has_ended(core, cores_.given(core))) ++core;
        return core == core_count_;
      },
      failed_task);
}

void TaskStream::wait(std::uint32_t& failed_task) {
  failed_task = BATON_NO_TASK;
  wait_for_all(failed_task);
  tell_times();
  forget();
}

void TaskStream::forget() noexcept {
  assignment_.end_tasks();
  kernels_.clear();
  lent_.clear();
  lend_at_ = 0;
  timed_.clear();
  std::ranges::fill(untold_, 0);
  retired_.clear();
  running_.reset();
}

}  // namespace baton::cuda
