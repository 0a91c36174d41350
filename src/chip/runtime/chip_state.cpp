#include "chip/runtime/chip_state.hpp"

#include <cstdio>
#include <exception>

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "base/processors.hpp"
#include "base/quote.hpp"
#include "base/recorder.hpp"
#include "chip/completion/domain_group.hpp"
#include "chip/device/library_device.hpp"
#include "chip/device/sim_device.hpp"
#include "chip/runtime/device_chip_window.hpp"

namespace baton::chip {
namespace {

std::uint64_t heap_bytes_of(const ChipOptions& chip) {
  return chip.output_heap_bytes != 0 ? chip.output_heap_bytes : options().output_heap_bytes;
}

/// Of the environment; nothing if it asks for no file. Each rank has its own, whether a launcher or a node started it.
std::optional<std::string> profile_file(std::optional<int> rank) {
  if (!options().profile || *options().profile == "summary") return std::nullopt;
  if (!rank) rank = options().rank;
  return *options().profile + (rank ? fmt::format(".{}", *rank) : "");
}

/// As events know it.
std::uint32_t event_rank(std::optional<int> rank) {
  if (!rank) rank = options().rank;
  return rank ? static_cast<std::uint32_t>(*rank) : 0;
}

std::unique_ptr<Profiler> profiler_for(const ChipOptions& chip, std::optional<int> rank) {
  if (chip.profile) {
    if (*chip.profile == ProfileMode::off) return nullptr;
    return std::make_unique<Profiler>(*chip.profile, std::nullopt, event_rank(rank));
  }
  if (!options().profile) return nullptr;
  const auto file = profile_file(rank);
  return std::make_unique<Profiler>(file ? ProfileMode::records : ProfileMode::summary, file, event_rank(rank));
}

std::optional<std::uint64_t> seed_of(const ChipOptions& chip) { return chip.seed ? chip.seed : options().seed; }

std::unique_ptr<Device> device_for(const ChipOptions& chip, LocalMemory& memory, std::optional<int> rank) {
  const std::chrono::nanoseconds kernel_timeout = chip.kernel_timeout.value_or(options().kernel_limit());
  if (!is_simulated(chip.platform)) {
    const OpenDevice::Wanted wanted{
        .device = chip.device, .device_count = chip.device_count, .clusters = chip.clusters};
    auto device =
        std::make_unique<LibraryDevice>(std::make_shared<OpenDevice>(chip.platform, wanted),
                                        RunLimits{.wait = memory.wait_timeout(), .task = kernel_timeout}, memory);
    if (rank && !device->has_windows()) {
      fail(Code::unsupported, "a chip of platform {} cannot be a rank among others: it has no windows",
           quote(chip.platform));
    }
    return device;
  }
  const SimOptions cores{
      .clusters = chip.clusters, .threads = chip.threads, .seed = seed_of(chip), .kernel_timeout = kernel_timeout};
  const SchedulerOptions tasks{.window = chip.task_window != 0 ? chip.task_window : options().task_window,
                               .in_place = chip.in_place.value_or(options().in_place),
                               .seed = seed_of(chip)};
  return std::make_unique<SimDevice>(profile_named(chip.platform), cores, tasks, memory);
}

/// A run whose failure the peers learn if this chip gives up their windows because of it.
template <class Body>
void tell_failure_of(ClosingWindows& windows, Body&& body) {
  windows.note_failure(std::nullopt);
  try {
    body();
  } catch (const Error& error) {
    windows.note_failure(error);
    throw;
  }
}

/// The time inside of it counts as elapsed.
class ProfiledRun {
 public:
  explicit ProfiledRun(Profiler* profiler) noexcept : profiler_(profiler) {
    if (profiler_ != nullptr) profiler_->begin_run();
  }
  ProfiledRun(const ProfiledRun&) = delete;
  ProfiledRun& operator=(const ProfiledRun&) = delete;
  ~ProfiledRun() {
    if (profiler_ != nullptr) profiler_->end_run();
  }

 private:
  Profiler* profiler_;
};

}  // namespace

ChipState::ChipState(const ChipOptions& chip, std::unique_ptr<LocalMemory> memory, std::optional<int> rank)
    : platform_(chip.platform),
      memory_(std::move(memory)),
      profiler_(profiler_for(chip, rank)),
      is_rank_(rank.has_value()),
      event_rank_(event_rank(rank)),
      dumps_(chip.dump ? chip.dump : options().dump, event_rank_),
      device_(device_for(chip, *memory_, rank)),
      heap_bytes_(device_->memory(), heap_bytes_of(chip)),
      heap_(heap_bytes_.buffer(), kChipAlignment, "BATON_OUTPUT_HEAP"),
      batch_(*device_) {
  events::begin();
  if (profiler_) profile();
  memory_->add_buffer(heap_bytes_.data(), heap_bytes_.bytes(), "outputs");
  map_.add_allocation(heap_bytes_.buffer(), "outputs");
}

ChipState::~ChipState() {
  const bool asked = is_profiled() && options().profile == "summary";
  const std::string table = asked ? task_profile().table() : "";
  // Before the memory that its tasks use.
  device_.reset();
  if (asked) std::fputs(table.c_str(), stderr);
}

void ChipState::profile() {
  profiler_->high_water.output_heap_bytes = heap_bytes_.bytes();
  device_->profile(profiler_.get());
}

Profiler* ChipState::profiler_of_run() {
  if (is_profiled()) return profiler_.get();
  // For the trace that is written now, or a check.
  if (events::wants(EventKind::edge) == (profiler_ != nullptr)) return profiler_.get();
  if (profiler_) {
    device_->profile(nullptr);
    profiler_.reset();
  } else {
    profiler_ = std::make_unique<Profiler>(ProfileMode::off, std::nullopt, event_rank_);
    profile();
  }
  return profiler_.get();
}

TaskProfile ChipState::task_profile() const {
  if (!is_profiled()) {
    fail(Code::invalid_argument,
         "the tasks of this chip are not profiled; ChipOptions::profile or BATON_PROFILE asks for it");
  }
  TaskProfile profile = profiler_->read();
  profile.cores = device_->core_profiles(profiler_->elapsed());
  return profile;
}

Tensor ChipState::alloc(DType dtype, std::span<const std::int64_t> shape, std::string_view name) {
  std::uint64_t bytes = size_of(dtype);
  for (const std::int64_t extent : shape) {
    if (extent <= 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) {
      fail(Code::invalid_argument, "\"{}\" cannot have a dimension of {} elements", name, extent);
    }
  }
  check_obtainable(name, bytes);
  Known known{.owned = OwnedBuffer(device_->memory(), bytes)};
  const Buffer buffer = known.owned.buffer();
  known.allocation = map_.add_allocation(buffer, name);
  memory_->add_buffer(known.owned.data(), bytes, std::string(name));
  known_.emplace(buffer.address, std::move(known));
  return Tensor(buffer, dtype, shape);
}

void ChipState::free(const Tensor& tensor) {
  const auto found = known_.find(tensor.buffer().address);
  if (found == known_.end())
    fail(Situation::not_chip_memory, "{} is not memory of this chip, or was freed before", tensor.describe());
  map_.invalidate(found->second.allocation);
  memory_->remove_buffer(reinterpret_cast<const void*>(found->first));
  known_.erase(found);
}

void ChipState::add_memory(const Buffer& memory, std::string_view name, const MemoryPlace& place) {
  if (memory.bytes == 0) fail(Code::invalid_argument, "\"{}\" has no bytes", name);
  if (place != bytes().place()) {
    fail(Code::unsupported, "\"{}\" is memory of {}, which this chip does not reach; use alloc() and copy_in()", name,
         place.is_host() ? "the host" : "another device");
  }
  const graph::AllocationId allocation = map_.add_allocation(memory, name);
  memory_->add_buffer(reinterpret_cast<const void*>(memory.address), memory.bytes, std::string(name), memory.id);
  known_.emplace(memory.address, Known{.owned = {}, .allocation = allocation});
}

void ChipState::remove(const Tensor& external) { free(external); }

std::shared_ptr<ChipWindowState> ChipState::open_window(const Domain& domain, std::string_view name,
                                                        std::size_t bytes) {
  if (!is_rank_) fail(Code::invalid_argument, "this chip is not a rank, so it has no windows; make it with a domain");
  if (!device_->has_windows()) return open_host_window(domain, name, bytes);
  return std::make_shared<DeviceChipWindow>(*device_, memory_, closing_, group_of(domain, name), std::string(name),
                                            bytes);
}

void ChipState::note_host_access(const Tensor& tensor, CheckedUse use, const char* operation) const {
  if (!is_checked()) return;
  const std::uint64_t bytes = static_cast<std::uint64_t>(tensor.element_count()) * size_of(tensor.dtype());
  memory_->note_touch(reinterpret_cast<const void*>(tensor.address()), {.row_bytes = bytes}, use, operation, {});
}

CapturedGraph ChipState::capture(const std::function<void(Graph&)>& orchestration, const GraphOptions& options,
                                 const Place& where) {
  auto captured = std::make_unique<CapturedState>(*this, memory_, OwnedBuffer(device_->memory(), heap_bytes_.bytes()));
  GraphState state({device_.get(), captured->map(), captured->heap(), *memory_, this, event_rank_, dumps_},
                   options.edges, captured.get());
  Graph graph(state);
  const std::uint64_t scope = captured->heap().open_scope(where);
  orchestration(graph);
  captured->heap().close_scope(scope);
  captured->close();
  return CapturedGraph(std::move(captured));
}

void ChipState::run(CapturedState& graph, std::span<const Binding> bindings) {
  if (graph.owner() != this) {
    fail(Code::invalid_argument, "a captured graph runs on the chip that captured it, and this is another one");
  }
  closing_->sweep();
  graph.bind(bindings);
  graph.fill_outputs(bytes());
  dumps_.begin_run();
  const ProfiledRun profiled(profiler_of_run());
  tell_failure_of(*closing_, [&] { device_->run(graph.tasks()); });
}

void ChipState::run(const std::function<void(Graph&)>& orchestration, const GraphOptions& options, const Place& where) {
  dumps_.begin_run();
  const ProfiledRun profiled(profiler_of_run());
  if (device_->stream() == nullptr) return run_in_batches(orchestration, options, where);
  Scheduler& scheduler = *device_->stream();
  GraphState state({device_.get(), map_, heap_, *memory_, this, event_rank_, dumps_, profiler_.get()}, options.edges);
  Graph graph(state);
  const std::uint64_t scope = heap_.open_scope(where);
  std::exception_ptr failure;
  try {
    orchestration(graph);
  } catch (...) {
    failure = std::current_exception();
    scheduler.deferred().give_up();
  }
  heap_.close_scope(scope);
  // Also after a failure of the orchestration: kernels that were submitted use memory that its caller may free.
  try {
    scheduler.wait_all();
  } catch (...) {
    // What happened on the chip comes first: an orchestration that fails later does so because of it.
    failure = std::current_exception();
  }
  scheduler.deferred().go_on();
  const TaskId next = scheduler.blocks().newest() + 1;
  map_.forget_before(next);
  heap_.forget_before(next);
  if (failure) std::rethrow_exception(failure);
}

void ChipState::run_in_batches(const std::function<void(Graph&)>& orchestration, const GraphOptions& options,
                               const Place& where) {
  closing_->sweep();
  GraphState state({device_.get(), map_, heap_, *memory_, this, event_rank_, dumps_, profiler_.get(), &batch_},
                   options.edges);
  Graph graph(state);
  const std::uint64_t scope = heap_.open_scope(where);
  std::exception_ptr failure;
  try {
    tell_failure_of(*closing_, [&] {
      orchestration(graph);
      batch_.run();
    });
  } catch (...) {
    failure = std::current_exception();
    // What happened on the chip comes first: an orchestration that fails later does so because of it.
    try {
      batch_.drop();
    } catch (...) {
      failure = std::current_exception();
    }
  }
  heap_.close_scope(scope);
  map_.forget_before(batch_.newest() + 1);
  heap_.forget_before(batch_.newest() + 1);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace baton::chip
