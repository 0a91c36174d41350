#include "platform/cuda/graph.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "platform/cuda/residence.hpp"
#include "platform/cuda/run_failure.hpp"
#include "platform/shared/descriptor.hpp"

namespace baton::cuda {
namespace {

using platforms::tensor_of;

/// Consecutive pieces of one block of memory.
class Layout {
 public:
  [[nodiscard]] std::size_t take(std::size_t bytes) {
    constexpr std::size_t kAlignment = 128;
    const std::size_t at = bytes_;
    bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

}  // namespace

Graph::Description Graph::described(const BatonDeviceTask& task) {
  Description out;
  out.kernel = reinterpret_cast<const LoadedKernel*>(task.kernels[0]);
  for (std::uint32_t part = 0; task.cores == BATON_TASK_CLUSTER && part < kClusterParts; ++part) {
    const auto* const kernel = reinterpret_cast<const LoadedKernel*>(task.kernels[part]);
    if (kernel == nullptr) continue;
    out.parts.push_back({part, kernel});
    if (out.kernel == nullptr) out.kernel = kernel;
  }
  out.blocks = std::max<std::uint32_t>(task.blocks, 1);
  if ((task.flags & BATON_TASK_PREDICATE) != 0) out.flags |= kHasPredicate;
  if ((task.flags & BATON_TASK_COUNTER) != 0) out.flags |= kHasCounter;
  if (task.cores == BATON_TASK_CUBE) out.flags |= kIsCube;
  if ((task.flags & BATON_TASK_QUEUE) != 0) out.flags |= kHasQueue;
  out.condition = {task.address, task.value, task.comparison, task.dtype};
  for (const BatonDeviceArgument& argument : std::span(task.arguments, task.argument_count)) {
    if (argument.access == BATON_ARGUMENT_SCALAR) {
      out.scalars.push_back(static_cast<std::int64_t>(argument.address));
    } else {
      out.tensors.push_back(argument);
    }
  }
  platforms::refuse_queue_without_scalar(task.flags, out.scalars.size());
  return out;
}

Graph::Graph(Gpu& gpu, std::span<const BatonDeviceTask> tasks, const std::uint64_t* first_predecessor,
             const std::uint32_t* predecessors)
    : gpu_(gpu), program_(gpu.shared().program()) {
  std::vector<std::vector<std::uint32_t>> before(tasks.size());
  std::vector<std::uint32_t> blocks;
  std::vector<std::int32_t> priorities;
  std::uint32_t clusters = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks_.push_back(described(tasks[i]));
    uses_cube_ = uses_cube_ || tasks[i].cores == BATON_TASK_CUBE || !tasks_.back().parts.empty();
    first_cluster_.push_back(clusters);
    if (!tasks_.back().parts.empty()) clusters += tasks_.back().blocks;
    blocks.push_back(tasks_.back().blocks * tasks_.back().cores_of_block());
    priorities.push_back(tasks[i].priority);
    before[i].assign(predecessors + first_predecessor[i], predecessors + first_predecessor[i + 1]);
    tasks_.back().is_after = !before[i].empty();
  }
  if (clusters == 0) first_cluster_.clear();
  if (clusters > kMostClusters || (clusters != 0 && gpu.core_count() < static_cast<int>(kClusterParts))) {
    throw Error(Code::out_of_range,
                fmt::format("a graph with {} blocks of clusters on {} cores; at most {} on 3 or more", clusters,
                            gpu.core_count(), kMostClusters));
  }
  placement_ = place(before, blocks, static_cast<std::size_t>(gpu.core_count()), priorities);
  // Cores without work are not started.
  std::erase_if(placement_.cores, [](const std::vector<Unit>& units) { return units.empty(); });
  core_count_ = static_cast<std::uint32_t>(placement_.cores.size());
  Layout layout;
  const std::size_t words_at = layout.take((tasks.size() * kArrivalStride + 2) * sizeof(std::uint32_t));
  const std::size_t conditions_at = layout.take(core_count_ * std::size_t{kConditionBytes});
  // The matrix unit has tiles in forms of its own, which pipes do not know.
  const bool on_matrix_unit =
      uses_cube_ && clusters == 0 && gpu.window_bytes() != 0 && program_->run_matrix_graph() != nullptr;
  const std::size_t maps_at = layout.take(on_matrix_unit ? core_count_ * std::size_t{kMaps} * kMapBytes : 0);
  arrivals_ = gpu.memory(layout.bytes());
  if (on_matrix_unit) {
    run_.window_bytes = gpu.window_bytes();
    run_.boxes = reinterpret_cast<const unsigned char*>(gpu.boxes());
    run_.maps = reinterpret_cast<unsigned char*>(arrivals_.address() + maps_at);
  }
  run_.arrivals = reinterpret_cast<std::uint32_t*>(arrivals_.address() + words_at);
  run_.stop = run_.arrivals + tasks.size() * kArrivalStride;
  run_.lost = run_.stop + 1;
  run_.conditions = reinterpret_cast<unsigned char*>(arrivals_.address() + conditions_at);
  run_.failure = gpu.failure();
  if (const Residence* const cores = on_matrix_unit ? nullptr : gpu.residence()) {
    run_.stop = cores->run().stop;
    run_.lost = cores->run().lost;
    run_.conditions = cores->run().conditions;
    description_of_run_ = gpu.memory(sizeof(Run));
  }
  gpu.describe_buffers(run_);
  if (clusters != 0) clusters_ = gpu.memory(clusters * sizeof(ClusterPipes));
  run_.clusters = clusters_.as<ClusterPipes>();
  if (uses_cube_) cube_buffers_ = gpu.memory(run_.cube_bytes * core_count_);
  run_.cube_buffers = cube_buffers_.as<unsigned char>();
}

void Graph::set(std::size_t task, const BatonDeviceTask& changed) {
  const bool is_after = tasks_.at(task).is_after;
  tasks_[task] = described(changed);
  tasks_[task].is_after = is_after;
  uploaded_ = false;
}

void Graph::fill(Packet& packet, const Unit& unit) const {
  const Description& task = tasks_[unit.task];
  packet.head.block_index = unit.block / task.cores_of_block();
  if (task.parts.empty()) return;
  std::uint32_t members = 0;
  for (const ClusterPart& part : task.parts) members |= 1U << part.number;
  const ClusterPart& mine = task.parts[unit.block % task.parts.size()];
  packet.head.entry = program_->address_of(mine.kernel);
  packet.head.flags |= flags_of_part(mine.number, members, first_cluster_[unit.task] + packet.head.block_index);
  if (mine.number == kCubePart) packet.head.flags |= kIsCube;
}

void Graph::upload() {
  std::size_t units = 0;
  for (const auto& core : placement_.cores) units += core.size();
  std::size_t with_packet = 0;  // tensors
  for (const Description& task : tasks_) with_packet = std::max(with_packet, task.tensors.size());
  with_packet = std::min<std::size_t>(with_packet, kInlineTensors);
  std::size_t tensors = 0;  // that do not come with packets
  std::size_t slots = 0;
  std::size_t told = 0;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    tensors += tasks_[i].tensors.size() - std::min(tasks_[i].tensors.size(), with_packet);
    if (tasks_[i].slot_count() > kInlineSlots) slots += tasks_[i].slot_count();
    if (placement_.told[i].size() > kInlineTold) told += placement_.told[i].size();
  }
  Layout layout;
  static_assert(sizeof(ChipTensor) == kTensorBytes);
  const std::size_t packet_size = packet_bytes(static_cast<std::uint32_t>(with_packet));
  const std::size_t packets_at = layout.take(units * packet_size);
  const std::size_t first_at = layout.take((placement_.cores.size() + 1) * sizeof(std::uint32_t));
  const std::size_t tensors_at = layout.take(tensors * sizeof(ChipTensor));
  const std::size_t slots_at = layout.take(slots * sizeof(std::int64_t));
  const std::size_t told_at = layout.take(told * sizeof(std::uint32_t));
  if (description_.bytes() < layout.bytes()) description_ = gpu_.memory(layout.bytes());
  const DevicePointer base = description_.address();
  std::vector<std::byte> image(layout.bytes());
  const auto write = [&](std::size_t at, const auto& record) {
    std::memcpy(image.data() + at, &record, sizeof record);
  };

  // What blocks of one task share.
  std::vector<Packet> common(tasks_.size());
  std::size_t tensor = tensors_at;
  std::size_t slot = slots_at;
  std::size_t counter = told_at;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const Description& task = tasks_[i];
    Packet& packet = common[i];
    PacketHead& head = packet.head;
    head.entry = task.kernel == nullptr ? 0 : program_->address_of(task.kernel);
    head.task = static_cast<std::uint32_t>(i);
    head.flags = task.flags | (task.is_after ? kIsAfter : 0U) | (is_timed_ ? kIsTimed : 0U);
    head.block_count = task.blocks;
    head.needed = placement_.needed[i];
    head.counter = placement_.counter[i];
    packet.condition = task.condition;
    head.tensor_count = static_cast<std::uint32_t>(std::min(task.tensors.size(), with_packet));
    std::vector<std::int64_t> values(head.tensor_count);
    for (const BatonDeviceArgument& given : std::span(task.tensors).subspan(head.tensor_count)) {
      write(tensor, tensor_of(given));
      values.push_back(static_cast<std::int64_t>(base + tensor));
      tensor += sizeof(ChipTensor);
    }
    values.insert(values.end(), task.scalars.begin(), task.scalars.end());
    head.slot_count = static_cast<std::uint32_t>(values.size());
    if (values.size() <= kInlineSlots) {
      std::ranges::copy(values, packet.inline_slots);
    } else {
      packet.slots = reinterpret_cast<const std::int64_t*>(base + slot);
      for (const std::int64_t value : values) {
        write(slot, value);
        slot += sizeof value;
      }
    }
    const std::vector<std::uint32_t>& arrives_at = placement_.told[i];
    head.told_count = static_cast<std::uint32_t>(arrives_at.size());
    if (arrives_at.size() <= kInlineTold) {
      std::ranges::copy(arrives_at, packet.inline_told);
    } else {
      packet.told = reinterpret_cast<const std::uint32_t*>(base + counter);
      for (const std::uint32_t value : arrives_at) {
        write(counter, value);
        counter += sizeof value;
      }
    }
  }
  std::uint32_t count = 0;
  units_.clear();
  for (std::size_t core = 0; core < placement_.cores.size(); ++core) {
    write(first_at + core * sizeof count, count);
    for (const Unit& unit : placement_.cores[core]) {
      Packet packet = common[unit.task];
      fill(packet, unit);
      packet.head.unit = count;
      if (is_timed_) {
        units_.push_back({unit.task, packet.head.block_index, static_cast<std::uint32_t>(core), count});
      }
      std::size_t at = packets_at + count * packet_size;
      write(at, packet);
      at += sizeof packet;
      for (std::size_t i = 0; i < packet.head.tensor_count; ++i, at += sizeof(ChipTensor)) {
        write(at, tensor_of(tasks_[unit.task].tensors[i]));
      }
      ++count;
    }
  }
  write(first_at + placement_.cores.size() * sizeof count, count);
  gpu_.copy_in("copying a graph to the GPU", base, image.data(), image.size());
  run_.packets = reinterpret_cast<const unsigned char*>(base + packets_at);
  run_.packet_bytes = static_cast<std::uint32_t>(packet_size);
  run_.batch_packets = packets_of_batch(static_cast<std::uint32_t>(with_packet));
  run_.first_packet = reinterpret_cast<const std::uint32_t*>(base + first_at);
  if (is_timed_ && times_.bytes() < units * sizeof(UnitTimes)) times_ = gpu_.memory(units * sizeof(UnitTimes));
  run_.times = is_timed_ ? times_.as<UnitTimes>() : nullptr;
  uploaded_ = true;
  version_ = 0;
}

void Graph::write_extents(const BatonRunOptions& options) {
  const auto same = [](const Extent& a, const BatonDeviceExtent& b) {
    return a.begin == b.address && a.bytes == b.bytes;
  };
  const std::span given(options.extents, options.extent_count);
  if (std::ranges::equal(extents_there_, given, same)) return;
  extents_there_.clear();
  for (const BatonDeviceExtent& extent : given) extents_there_.push_back({extent.address, extent.bytes});
  const std::size_t bytes = extents_there_.size() * sizeof(Extent);
  if (extents_.bytes() < bytes) extents_ = gpu_.memory(2 * bytes);
  gpu_.copy_in("telling the GPU of buffers", extents_.address(), extents_there_.data(), bytes);
  run_.extents = extents_.as<const Extent>();
  run_.extent_count = static_cast<std::uint32_t>(extents_there_.size());
}

void Graph::run(const BatonRunOptions& options, std::uint32_t& failed_task) {
  failed_task = BATON_NO_TASK;
  gpu_.make_current();
  keep_times(options.note_block != nullptr);
  if (!uploaded_) upload();
  write_extents(options);
  run_.spans_gpus = gpu_.shared().spans_gpus() ? 1 : 0;
  run_.wait_limit_ns = options.wait_limit_ns;
  run_.run_limit_ns = options.run_limit_ns;
  gpu_.describe_order(run_, *program_);
  {
    const SharedGpu::Running running(gpu_.shared());
    if (is_timed_) static_cast<void>(gpu_.clock(*program_));
    if (clusters_.address() != 0) gpu_.clear("clearing pipes of clusters", clusters_.address(), clusters_.bytes());
    Residence* const cores = gpu_.residence();
    if (cores != nullptr && run_.window_bytes == 0) {
      command(*cores, options);
    } else {
      // Cores that stay have no matrix unit, and make room for those that do.
      if (cores != nullptr) cores->leave();
      launch();
      wait(options);
    }
    if (is_timed_) tell_times(options);
  }
  if (gpu_.failure()->is_set != 0) raise(options, failed_task);
}

void Graph::keep_times(bool wanted) {
  if (is_timed_ == wanted) return;
  is_timed_ = wanted;
  uploaded_ = false;
}

void Graph::tell_times(const BatonRunOptions& options) {
  std::vector<UnitTimes> times(units_.size());
  const std::size_t bytes = times.size() * sizeof(UnitTimes);
  gpu_.copy_out("reading the times of tasks", times.data(), times_.address(), bytes);
  // A core that does not come to a task in the next run leaves this.
  gpu_.clear("clearing the times of tasks", times_.address(), bytes);
  cuda::tell_times(units_, times, gpu_.clock(*program_), options);
}

void Graph::command(Residence& cores, const BatonRunOptions& options) {
  cores.use(program_);
  Run told = run_;
  told.number = 0;
  if (version_ == 0 || told != told_) {
    gpu_.copy_in("describing a graph to the GPU", description_of_run_.address(), &told, sizeof told);
    told_ = told;
    version_ = cores.new_version();
  }
  GraphCommand command{};
  command.head = {CommandKind::graph, static_cast<std::uint16_t>(words_of(sizeof command)), version_,
                  description_of_run_.address()};
  command.number = ++runs_;
  std::array<std::uint32_t, sizeof command / sizeof(std::uint32_t)> parts{};
  std::memcpy(parts.data(), &command, sizeof command);
  gpu_.wait_for_default_stream();
  // All that came before has ended, so there is room.
  for (std::size_t core = 0; core < core_count_; ++core) cores.write(core, parts.data(), command.head.words);
  cores.ring();
  std::size_t ended = 0;
  try {
    const bool good = cores.wait_until(options, [&] {
      while (ended < core_count_ && cores.has_ended(ended, cores.given(ended))) ++ended;
      return ended == core_count_;
    });
    if (!good) cores.reset();
  } catch (const GpuDown& down) {
    raise_crash(down.result, tasks_.size(), [&](std::size_t task) { return tasks_[task].kernel; });
  }
}

void Graph::launch() {
  run_.number = ++runs_;
  const Driver& driver = Driver::get();
  void* parameters[] = {&run_};
  const bool on_matrix_unit = run_.window_bytes != 0;
  auto* const function = on_matrix_unit ? program_->run_matrix_graph() : program_->run_graph();
  const auto shared =
      static_cast<unsigned>(kControlBytes + std::max<std::uint64_t>(run_.buffer_bytes[0], run_.window_bytes));
  const unsigned threads = gpu_.threads_of_core() + (on_matrix_unit ? kLoaders * kWarp : 0);
  driver.check("starting a graph",
               driver.launch_together(function, core_count_, 1, 1, threads, 1, 1, shared, gpu_.stream(), parameters));
}

void Graph::wait(const BatonRunOptions& options) {
  const Driver& driver = Driver::get();
  const auto start = std::chrono::steady_clock::now();
  const std::chrono::nanoseconds limit = std::chrono::nanoseconds(options.run_limit_ns) + kGrace;
  bool has_lost_peers = false;
  for (std::uint64_t looks = 0;; ++looks) {
    const Result result = driver.stream_query(gpu_.stream());
    if (result == 0) return;
    if (result != kNotReady) {
      raise_crash(result, tasks_.size(), [&](std::size_t task) { return tasks_[task].kernel; });
    }
    constexpr std::uint64_t kLooksBetweenClocks = 64;
    if (looks % kLooksBetweenClocks != 0) continue;
    if (!has_lost_peers && options.has_lost_peers != nullptr && options.has_lost_peers(options.context) != 0) {
      has_lost_peers = true;
      gpu_.set_word("telling the GPU of a lost peer", reinterpret_cast<DevicePointer>(run_.lost), 1);
    }
    if (options.run_limit_ns != 0 && std::chrono::steady_clock::now() - start > limit) {
      throw Error(Code::wait_timeout,
                  fmt::format("a kernel has run for more than {} s on the GPU, which cannot interrupt it",
                              std::chrono::duration<double>(limit).count()),
                  {"this process cannot use the GPU any more"});
    }
    if (looks > 100 * kLooksBetweenClocks) std::this_thread::yield();
  }
}

void Graph::raise(const BatonRunOptions& options, std::uint32_t& failed_task) {
  // The run ended in the middle: the next one begins anew.
  gpu_.clear("clearing a graph", arrivals_.address(), arrivals_.bytes());
  runs_ = 0;
  raise_failure(
      gpu_, options, tasks_.size(), [&](std::size_t task) { return tasks_[task].kernel; }, failed_task);
}

}  // namespace baton::cuda
