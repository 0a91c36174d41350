#include "chip/device/library_device.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include <tensor.h>

#include "base/fail.hpp"
#include "chip/device/library_window.hpp"
#include "chip/graph/chip_tensor.hpp"
#include "chip/sched/failure.hpp"

namespace baton::chip {
namespace {

BatonDeviceDescription describe(const OpenDevice& open) {
  BatonDeviceDescription description{};
  open.library().check("baton_device_describe", open.library().describe(open.get(), &description));
  return description;
}

class LibraryMemory final : public ChipMemory {
 public:
  explicit LibraryMemory(std::shared_ptr<OpenDevice> open)
      : open_(std::move(open)), place_(open_->library().memory_place(open_->get())) {}

  [[nodiscard]] MemoryPlace place() const noexcept override { return place_; }
  [[nodiscard]] std::uint64_t allocate(std::size_t bytes) override {
    std::uint64_t address = 0;
    library().check("baton_device_alloc", library().alloc(open_->get(), bytes, &address));
    return address;
  }
  void free(std::uint64_t address, std::size_t /*bytes*/) noexcept override {
    static_cast<void>(library().free(open_->get(), address));
  }
  void copy_in(std::uint64_t to, const void* from, std::size_t bytes) override {
    library().check("baton_device_copy_in", library().copy_in(open_->get(), to, from, bytes));
  }
  void copy_out(void* to, std::uint64_t from, std::size_t bytes) override {
    library().check("baton_device_copy_out", library().copy_out(open_->get(), to, from, bytes));
  }
  void fill(std::uint64_t to, const void* element, std::size_t element_bytes, std::size_t count) override {
    const std::size_t piece = std::min(count, kFilled / element_bytes);
    std::vector<std::byte> bytes(piece * element_bytes);
    for (std::size_t i = 0; i < piece; ++i) std::memcpy(bytes.data() + i * element_bytes, element, element_bytes);
    for (std::size_t done = 0; done < count; done += piece) {
      copy_in(to + done * element_bytes, bytes.data(), std::min(piece, count - done) * element_bytes);
    }
  }

 private:
  /// Bytes of one copy of a fill.
  static constexpr std::size_t kFilled = std::size_t{1} << 20U;

  [[nodiscard]] const platform::PlatformLibrary& library() const noexcept { return open_->library(); }

  std::shared_ptr<OpenDevice> open_;
  MemoryPlace place_;
};

/// A graph that a device has taken, and which of its arguments.
struct Taken {
  Taken(std::shared_ptr<OpenDevice> device, BatonDeviceGraph* made) : open(std::move(device)), graph(made) {}
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  ~Taken() { static_cast<void>(open->library().graph_free(graph)); }

  std::shared_ptr<OpenDevice> open;
  BatonDeviceGraph* graph;
  std::uint64_t arguments_version = 0;
};

BatonDeviceArgument argument_of(const ChipTensor& tensor) {
  BatonDeviceArgument out{};
  // Edges are known: what the task does with it is nobody's business any more.
  out.access = BATON_ARGUMENT_INOUT;
  out.dtype = static_cast<std::uint32_t>(tensor.dtype);
  out.dims = tensor.ndims;
  out.address = tensor.buffer.addr;
  out.bytes = tensor.buffer.size;
  out.offset = static_cast<std::int64_t>(tensor.start_offset);
  for (std::uint32_t i = 0; i < tensor.ndims; ++i) {
    out.shape[i] = tensor.shapes[i];
    out.strides[i] = static_cast<std::int32_t>(tensor.strides[i]);
  }
  return out;
}

std::uint32_t cores_of(Cores cores) {
  switch (cores) {
    case Cores::vector: return BATON_TASK_VECTOR;
    case Cores::cube: return BATON_TASK_CUBE;
    case Cores::cluster: return BATON_TASK_CLUSTER;
    case Cores::none: return BATON_TASK_NONE;
  }
  return BATON_TASK_NONE;
}

/// The first failure of a run, and all tasks that depend on the one that failed.
[[noreturn]] void raise(CapturedTasks& graph, TaskId failed, std::exception_ptr cause) {
  FailureLog log;
  const TaskFailure* failure = log.add_failure(graph[failed], std::move(cause));
  std::vector<bool> held(static_cast<std::size_t>(graph.newest()) + 1);
  held[static_cast<std::size_t>(failed)] = true;
  // Tasks come after those that they depend on.
  for (TaskId id = failed; id <= graph.newest(); ++id) {
    if (!held[static_cast<std::size_t>(id)]) continue;
    if (id != failed) log.add_not_run(graph[id], *failure);
    for (const std::uint32_t successor : graph.successors(id)) held[successor + 1] = true;
  }
  log.raise();
}

}  // namespace

OpenDevice::OpenDevice(const std::string& platform, const Wanted& wanted) : library_(platform) {
  if (wanted.clusters < 0) fail(Code::invalid_argument, "a chip cannot have {} clusters", wanted.clusters);
  if (wanted.device_count > 0 && library_.open_part) {
    library_.check("baton_device_open_part", library_.open_part(wanted.device, wanted.device_count, &device_));
  } else {
    library_.check("baton_device_open", library_.open(wanted.device, &device_));
  }
  if (wanted.clusters == 0) return;
  try {
    library_.check("baton_device_set_clusters",
                   library_.set_clusters(device_, static_cast<std::uint32_t>(wanted.clusters)));
  } catch (...) {
    static_cast<void>(library_.close(device_));
    throw;
  }
}

void OpenDevice::add(const WindowGroup& group) {
  const std::lock_guard lock(mutex_);
  groups_.insert(&group);
}

void OpenDevice::remove(const WindowGroup& group) noexcept {
  const std::lock_guard lock(mutex_);
  groups_.erase(&group);
}

std::string OpenDevice::failed_member() const {
  const std::lock_guard lock(mutex_);
  for (const WindowGroup* const group : groups_) {
    if (std::string member = group->failed_member(); !member.empty()) return member;
  }
  return {};
}

LibraryDevice::LibraryDevice(const std::shared_ptr<OpenDevice>& open, const RunLimits& limits, const LocalMemory& known)
    : Device(std::make_shared<LibraryMemory>(open)),
      open_(open),
      description_(describe(*open)),
      limits_(limits),
      known_(known) {}

BatonDeviceKernel* LibraryDevice::kernel_for(BatonKernelFunction entry, const char* name) {
  if (entry == last_function_) return last_kernel_;
  BatonDeviceKernel*& kernel = kernels_[entry];
  if (kernel == nullptr) kernel = load_kernel(entry, name);
  last_function_ = entry;
  return last_kernel_ = kernel;
}

BatonDeviceKernel* LibraryDevice::load_kernel(BatonKernelFunction entry, const char* name) const {
  BatonDeviceKernel* kernel = nullptr;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(entry), &info) == 0 || info.dli_fname == nullptr) {
    fail(Code::not_a_kernel, "kernel '{}' is in no library", name);
  }
  const auto& library = open_->library();
  library.check("baton_device_load_kernel", library.load_kernel(open_->get(), info.dli_fname, name, &kernel));
  return kernel;
}

BatonDeviceTask LibraryDevice::task_of(const Task& task, std::vector<BatonDeviceArgument>& arguments) {
  const TaskPlan& plan = task.plan;
  arguments.clear();
  for (std::uint32_t i = 0; i < plan.arg_count; ++i) {
    BatonDeviceArgument argument{};
    if (i < plan.tensor_count) {
      argument = argument_of(*reinterpret_cast<const ChipTensor*>(plan.args[i]));
    } else {
      argument.access = BATON_ARGUMENT_SCALAR;
      argument.address = static_cast<std::uint64_t>(plan.args[i]);
    }
    arguments.push_back(argument);
  }
  BatonDeviceTask out{};
  if (plan.entry != nullptr) out.kernels[0] = kernel_for(plan.entry, plan.name);
  for (std::size_t i = 0; plan.cluster != nullptr && i < BATON_TASK_KERNELS; ++i) {
    if (plan.cluster->entry[i] != nullptr) out.kernels[i] = kernel_for(plan.cluster->entry[i], plan.cluster->name[i]);
  }
  out.arguments = arguments.data();
  out.argument_count = plan.arg_count;
  out.cores = cores_of(plan.cores);
  out.blocks = plan.blocks;
  out.priority = plan.priority;
  if (plan.start == BlockStart::together) out.flags |= BATON_TASK_TOGETHER;
  if (plan.waits_for_counter()) {
    out.flags |= BATON_TASK_COUNTER;
    out.address = reinterpret_cast<std::uint64_t>(plan.counter);
    out.value = plan.expected;
  }
  if (const TaskExtra* extra = plan.extras(); extra != nullptr) {
    if (extra->completion_queue) out.flags |= BATON_TASK_QUEUE;
    if (!extra->has_predicate) return out;
    const ChipTensor& element = *extra->element;
    out.flags |= BATON_TASK_PREDICATE;
    out.comparison = static_cast<std::uint32_t>(extra->comparison);
    out.value = extra->value;
    out.dtype = static_cast<std::uint32_t>(element.dtype);
    out.address = element.buffer.addr + element.start_offset * size_of(static_cast<DType>(element.dtype));
  }
  return out;
}

std::string LibraryDevice::lost_peer() const {
  std::string dead = known_.lost_peer();
  return dead.empty() ? open_->failed_member() : dead;
}

int LibraryDevice::has_lost_peers(void* self) noexcept {
  try {
    return static_cast<const LibraryDevice*>(self)->lost_peer().empty() ? 0 : 1;
  } catch (...) {  // no memory for a text
    return 1;
  }
}

void LibraryDevice::name_address(void* self, std::uint64_t address, char* text, std::size_t bytes) noexcept {
  try {
    const LocalMemory& known = static_cast<const LibraryDevice*>(self)->known_;
    const std::string name = known.name_of(reinterpret_cast<const void*>(address));
    const std::size_t count = std::min(name.size(), bytes - 1);
    std::memcpy(text, name.data(), count);
    text[count] = '\0';
  } catch (...) {  // no memory for a text
    *text = '\0';
  }
}

void LibraryDevice::profile(Profiler* profiler) {
  const bool tells_blocks = (description_.features & BATON_FEATURE_BLOCKS) != 0;
  const bool tells = tells_blocks || (description_.features & BATON_FEATURE_TIMES) != 0;
  noted_.tell(tells ? profiler : nullptr, tells_blocks ? NotedTasks::Source::blocks : NotedTasks::Source::progress);
}

void LibraryDevice::note_task(void* self, std::uint32_t task, std::uint32_t progress) noexcept {
  static_cast<LibraryDevice*>(self)->noted_.note(task, progress);
}

void LibraryDevice::note_block(void* self, const BatonBlockTimes* times) {
  static_cast<LibraryDevice*>(self)->noted_.note(*times);
}

std::exception_ptr LibraryDevice::with_lost_peer(const Error& error) const {
  const std::string peer = error.code() == Code::peer_died ? lost_peer() : "";
  if (peer.empty()) return std::current_exception();
  std::vector<std::string> notes = error.notes();
  notes.push_back(peer);
  return std::make_exception_ptr(Error(error.code(), error.message(), std::move(notes)));
}

std::shared_ptr<void> LibraryDevice::make(CapturedTasks& graph) {
  const auto count = static_cast<std::size_t>(graph.newest());
  std::vector<std::vector<BatonDeviceArgument>> arguments(count);
  std::vector<BatonDeviceTask> tasks;
  std::vector<std::uint64_t> first = {0};
  std::vector<std::uint32_t> predecessors;
  for (TaskId id = 1; id <= graph.newest(); ++id) {
    tasks.push_back(task_of(graph[id], arguments[static_cast<std::size_t>(id - 1)]));
    for (const TaskId earlier : graph.predecessors(id)) predecessors.push_back(static_cast<std::uint32_t>(earlier - 1));
    first.push_back(predecessors.size());
  }
  BatonDeviceGraph* made = nullptr;
  const auto& library = open_->library();
  library.check("baton_graph_make",
                library.graph_make(open_->get(), tasks.data(), count, first.data(), predecessors.data(), &made));
  auto taken = std::make_shared<Taken>(open_, made);
  taken->arguments_version = graph.arguments_version();
  return taken;
}

std::unique_ptr<DeviceWindow> LibraryDevice::open_window(WindowGroup& group, std::size_t bytes) {
  return std::make_unique<LibraryWindow>(open_, group, bytes);
}

void LibraryDevice::run(CapturedTasks& graph) {
  if (graph.newest() == 0) return;
  graph.next_run();
  if (!graph.prepared()) graph.prepared() = make(graph);
  auto& taken = *static_cast<Taken*>(graph.prepared().get());
  const auto& library = open_->library();
  if (taken.arguments_version != graph.arguments_version()) {
    std::vector<BatonDeviceArgument> arguments;
    for (TaskId id = 1; id <= graph.newest(); ++id) {
      const BatonDeviceTask task = task_of(graph[id], arguments);
      library.check("baton_graph_set", library.graph_set(taken.graph, static_cast<std::size_t>(id - 1), &task));
    }
    taken.arguments_version = graph.arguments_version();
  }
  std::vector<BatonDeviceExtent> extents;
  const BatonRunOptions options = run_options(extents);
  noted_.begin(graph);
  std::uint32_t failed = BATON_NO_TASK;
  try {
    library.check("baton_graph_run", library.graph_run(taken.graph, &options, &failed));
    noted_.end(graph, std::nullopt);
  } catch (const Error& error) {
    noted_.end(graph, failed);
    raise_about(graph, failed, error);
  }
}

BatonRunOptions LibraryDevice::run_options(std::vector<BatonDeviceExtent>& extents) {
  const auto asks = [this](NotedTasks::Source source) { return noted_.is_wanted() && noted_.source() == source; };
  known_.for_each_buffer([&](std::uintptr_t begin, std::size_t bytes) { extents.push_back({begin, bytes}); });
  return {.extents = extents.data(),
          .extent_count = extents.size(),
          .wait_limit_ns = static_cast<std::uint64_t>(limits_.wait.count()),
          .run_limit_ns = static_cast<std::uint64_t>(limits_.task.count()),
          .context = this,
          .has_lost_peers = &has_lost_peers,
          .name_address = &name_address,
          .note_task = asks(NotedTasks::Source::progress) ? &note_task : nullptr,
          .note_block = asks(NotedTasks::Source::blocks) ? &note_block : nullptr};
}

void LibraryDevice::raise_about(CapturedTasks& graph, std::uint32_t failed, const Error& error) const {
  const std::exception_ptr cause = with_lost_peer(error);
  if (failed >= graph.newest()) std::rethrow_exception(cause);
  raise(graph, TaskId{failed} + 1, cause);
}

bool LibraryDevice::begin_tasks(CapturedTasks& graph) {
  if (!open_->library().stream_begin) return false;
  // Its kernels are loaded: a device may need some before it can tell.
  static_cast<void>(task_of(graph.newest_task(), arguments_));
  noted_.begin();
  return begin_stream();
}

bool LibraryDevice::begin_stream() {
  const auto& library = open_->library();
  // Before the buffers are read: one that comes meanwhile is told of with the next task.
  known_version_ = known_.version();
  std::vector<BatonDeviceExtent> extents;
  const BatonRunOptions options = run_options(extents);
  int takes = 0;
  library.check("baton_stream_begin", library.stream_begin(open_->get(), &options, &takes));
  return takes != 0;
}

void LibraryDevice::take_task(CapturedTasks& graph) {
  const auto& library = open_->library();
  std::uint32_t failed = BATON_NO_TASK;
  try {
    if (known_version_ != known_.version()) static_cast<void>(begin_stream());
    const BatonDeviceTask task = task_of(graph.newest_task(), arguments_);
    predecessors_.clear();
    for (const TaskId earlier : graph.predecessors(graph.newest())) {
      predecessors_.push_back(static_cast<std::uint32_t>(earlier - 1));
    }
    noted_.submitted(graph);
    library.check("baton_stream_submit",
                  library.stream_submit(open_->get(), &task, predecessors_.data(), predecessors_.size(), &failed));
  } catch (const Error& error) {
    // Not a failure of the device: what was submitted before goes on.
    if (failed == BATON_NO_TASK) {
      end_tasks(graph);
    } else {
      noted_.end(graph, failed);
    }
    graph.close();
    raise_about(graph, failed, error);
  }
}

void LibraryDevice::end_tasks(CapturedTasks& graph) {
  const auto& library = open_->library();
  std::uint32_t failed = BATON_NO_TASK;
  try {
    library.check("baton_stream_wait", library.stream_wait(open_->get(), &failed));
    noted_.end(graph, std::nullopt);
  } catch (const Error& error) {
    noted_.end(graph, failed);
    graph.close();
    raise_about(graph, failed, error);
  }
}

}  // namespace baton::chip
