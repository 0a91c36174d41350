// Binaries, functions and launches (R 14). Kernels are executed by simulated cores.
#include "kernels.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include <baton/chip.hpp>
#include <baton/error.hpp>
#include <baton/kernel_source.hpp>

#include "field_at.hpp"
#include "streams.hpp"

namespace standin {
namespace {

constexpr std::uint32_t kVectorMagic = 0x41415246;
constexpr std::uint32_t kCubeMagic = 0x41494343;
constexpr std::uint32_t kClusterMagic = 0x43554245;
constexpr int kClusters = 4;

struct Launch {
  std::shared_ptr<Function> function;
  std::uint32_t blocks = 0;
  bool together = false;
  std::uint64_t argument = 0;
};

/// The cores of one stream. Made, used and destroyed by its thread.
class Executor {
 public:
  int run(const Launch& launch, const Arena& arena, std::uint64_t limit_us, bool is_a5, std::string& text) {
    const bool vector = launch.function->binary->magic == kVectorMagic;
    if (!chip_ || limit_us != limit_us_) {
      limit_us_ = limit_us;
      chip_ = std::make_unique<baton::Chip>(
          baton::ChipOptions{.platform = is_a5 ? "a5sim" : "a2a3sim",
                             .clusters = kClusters,
                             .threads = 1,
                             .output_heap_bytes = std::uint64_t{1} << 16U,
                             .kernel_timeout = std::chrono::microseconds(limit_us == UINT64_MAX ? 0 : limit_us),
                             .profile = baton::ProfileMode::off});
      chip_->add_memory({.address = reinterpret_cast<std::uint64_t>(arena.begin), .bytes = std::size_t{64} << 30U},
                        "memory of the device");
    }
    const std::vector<Side>& sides = launch.function->binary->sides;
    const auto kernel_of = [&](std::size_t side) {
      return baton::Kernel{launch.function->name.c_str(), sides[side].enter, nullptr,
                           vector ? BATON_CORE_VECTOR : BATON_CORE_CUBE, 0};
    };
    const auto entry_of = [&](std::size_t side) {
      return reinterpret_cast<std::int64_t>(launch.function->entries[side]);
    };
    try {
      chip_->run([&](baton::Graph& graph) {
        const baton::TaskOptions options{.blocks = launch.blocks, .start_together = launch.together};
        const auto argument = static_cast<std::int64_t>(launch.argument);
        const baton::Kernel kernel = kernel_of(0);
        if (sides.size() == 1) return static_cast<void>(graph.submit(kernel, {entry_of(0), argument}, options));
        const baton::Kernel cube = kernel_of(1);
        graph.submit(baton::ClusterTask{.cube = &cube, .vector = {&kernel, &kernel}},
                     {entry_of(0), argument, entry_of(1)}, options);
      });
      return kOk;
    } catch (const baton::Error& error) {
      chip_.reset();  // a kernel that was ended in its middle leaves its cores as they were
      text = error.message();
      for (const std::string& note : error.notes()) text += "; " + note;
      if (error.code() == baton::Code::kernel_timeout) return vector ? kVectorTimeout : kCubeTimeout;
      return vector ? kVectorException : kCubeException;
    }
  }

 private:
  std::unique_ptr<baton::Chip> chip_;
  std::uint64_t limit_us_ = 0;
};

thread_local std::unique_ptr<Executor> executor_of_thread;

/// The magic of aclrtBinaryLoadOptions; without one the loader takes a kernel for one of cube cores.
std::uint32_t magic_of(const void* options) {
  constexpr std::uint32_t kMagicOption = 2;
  if (options == nullptr || field_at<std::size_t>(options, 8) == 0) return kCubeMagic;
  const void* option = field_at<const void*>(options, 0);
  return field_at<std::uint32_t>(option, 0) == kMagicOption ? field_at<std::uint32_t>(option, 4) : kCubeMagic;
}

/// Whether aclrtLaunchKernelCfg wants all blocks at the same time.
bool starts_together(const void* config) {
  constexpr std::uint32_t kSchedule = 1;
  if (config == nullptr || field_at<std::size_t>(config, 8) == 0) return false;
  const void* attribute = field_at<const void*>(config, 0);
  return field_at<std::uint32_t>(attribute, 0) == kSchedule && field_at<std::uint8_t>(attribute, 4) == 1;
}

/// The bytes as a file of their own, and loaded: the loader takes two files of one name for the same.
std::shared_ptr<void> loaded(const void* data, std::size_t bytes) {
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder == nullptr ? "/tmp" : folder) + "/standin-XXXXXX";
  const int file = ::mkstemp(path.data());
  if (file < 0) return nullptr;
  const bool written = ::write(file, data, bytes) == static_cast<ssize_t>(bytes);
  ::close(file);
  std::shared_ptr<void> library;
  try {
    if (written) {
      // Tells the kernels which core they run on, and keeps the library.
      auto kernels = std::make_shared<baton::KernelFile>(baton::KernelFile::load(path));
      void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      library = std::shared_ptr<void>(handle, [kernels](void* open) { ::dlclose(open); });
    }
  } catch (const baton::Error&) {  // no binary
  }
  ::unlink(path.c_str());
  return library;
}

/// The files that compiler/ccec.py and ld_lld.py have made one of: for both kinds of cores.
std::vector<std::pair<const char*, std::size_t>> files_in(const void* data, std::size_t bytes) {
  constexpr std::size_t kHead = 16;
  const auto* begin = static_cast<const char*>(data);
  if (bytes < kHead || std::memcmp(begin, "BOTHKIND", 8) != 0) return {{begin, bytes}};
  const auto first = field_at<std::uint64_t>(begin, 8);
  if (first > bytes - kHead) return {};
  return {{begin + kHead, first}, {begin + kHead + first, bytes - kHead - first}};
}

/// Null functions: it is no code for a device.
Side side_of(const char* file, std::size_t bytes, std::uint32_t& core) {
  Side side{.library = loaded(file, bytes)};
  if (!side.library) return side;
  side.enter = reinterpret_cast<void (*)(std::int64_t*)>(::dlsym(side.library.get(), "standin_enter"));
  side.stop = static_cast<int*>(::dlsym(side.library.get(), "standin_stop"));
  const auto* cores = static_cast<const std::uint32_t*>(::dlsym(side.library.get(), "standin_core"));
  core = cores == nullptr ? 0 : *cores;
  return side;
}

}  // namespace

void stop_kernels(State& state, std::uint64_t context, Kernels what) {
  for (const auto& [handle, binary] : state.binaries) {
    if (binary->context != context) continue;
    for (const Side& side : binary->sides) __atomic_store_n(side.stop, static_cast<int>(what), __ATOMIC_RELAXED);
  }
}

void end_executor_of_thread() { executor_of_thread.reset(); }

}  // namespace standin

using namespace standin;  // NOLINT: the functions below are the stand-in's face

extern "C" {

STANDIN_API int aclrtBinaryLoadFromData(const void* data, std::size_t bytes, const void* options, void** out) {
  return call("aclrtBinaryLoadFromData", Needs::device, [&](State& state, Lock&) {
    auto binary = std::make_shared<Binary>(Binary{current_context(), magic_of(options), {}});
    for (const auto& [file, size] : files_in(data, bytes)) {
      std::uint32_t core = 0;
      binary->sides.push_back(side_of(file, size, core));
      const Side& side = binary->sides.back();
      if (!side.library) return refuse(kRuntime, "aclrtBinaryLoadFromData: this is no binary");
      if (side.enter == nullptr || core == 0 || side.stop == nullptr) {
        return refuse(kRuntime, "aclrtBinaryLoadFromData: no code for a device");
      }
      if (core != binary->magic) {
        return violate(kRuntime, "aclrtBinaryLoadFromData: the magic says another core than the code");
      }
    }
    *out = state.new_handle();
    state.binaries.emplace(number_of(*out), std::move(binary));
    return int{kOk};
  });
}

STANDIN_API int aclrtBinaryGetFunction(void* handle, const char* name, void** out) {
  return call("aclrtBinaryGetFunction", Needs::device, [&](State& state, Lock&) {
    const auto found = state.binaries.find(number_of(handle));
    if (found == state.binaries.end()) return violate(kBadHandle, "aclrtBinaryGetFunction of a dead binary");
    auto function = std::make_shared<Function>(Function{found->second, {}, name});
    for (std::size_t side = 0; side < found->second->sides.size(); ++side) {
      void* const symbol = ::dlsym(found->second->sides[side].library.get(), name);
      if (symbol == nullptr) return refuse(kRuntime, std::string("aclrtBinaryGetFunction: there is no ") + name);
      function->entries[side] = reinterpret_cast<void (*)(std::int64_t*)>(symbol);
    }
    *out = state.new_handle();
    state.functions.emplace(number_of(*out), std::move(function));
    return int{kOk};
  });
}

STANDIN_API int aclrtBinaryUnLoad(void* handle) {
  return call("aclrtBinaryUnLoad", Needs::device, [&](State& state, Lock&) {
    const auto found = state.binaries.find(number_of(handle));
    if (found == state.binaries.end()) return violate(kBadHandle, "aclrtBinaryUnLoad of a dead binary");
    if (found->second->context != current_context()) {
      return violate(kOtherContext, "aclrtBinaryUnLoad in another context than the load");
    }
    if (is_busy(state, *current_device(state))) return violate(kBadParameter, "aclrtBinaryUnLoad while kernels run");
    std::erase_if(state.functions, [&](const auto& entry) { return entry.second->binary == found->second; });
    state.binaries.erase(found);
    return int{kOk};
  });
}

STANDIN_API int aclrtLaunchKernelWithHostArgs(void* handle, std::uint32_t blocks, void* on, void* config, void* args,
                                              std::size_t bytes, void* placeholders, std::size_t placeholder_count) {
  return call("aclrtLaunchKernelWithHostArgs", Needs::device, [&](State& state, Lock&) {
    const char* const self = "aclrtLaunchKernelWithHostArgs";
    const auto found = state.functions.find(number_of(handle));
    if (found == state.functions.end()) return violate(kBadHandle, std::string(self) + " of a dead function");
    if (found->second->binary->context != current_context()) {
      return violate(kOtherContext, std::string(self) + " of a function of another context");
    }
    int code = kOk;
    Stream* const stream = stream_of(state, on, self, code);
    if (stream == nullptr) return code;
    if (blocks == 0 || blocks > 65535 || bytes != sizeof(std::uint64_t) || placeholders != nullptr ||
        placeholder_count != 0) {
      return violate(kBadParameter, std::string(self) + ": 1 to 65535 blocks and one address are expected");
    }
    if (found->second->binary->magic == kClusterMagic && blocks > kClusters) {
      return violate(kBadParameter, std::string(self) + ": more clusters than there are");
    }
    Device& device = *current_device(state);
    Launch launch{found->second, blocks, starts_together(config), field_at<std::uint64_t>(args, 0)};
    if (!device.arena.contains(reinterpret_cast<const void*>(launch.argument))) {
      return violate(kBadParameter, std::string(self) + ": the argument is not in memory of this device");
    }
    Work work;
    work.kernel = [&state, &device, launch](std::string& text) {
      if (!executor_of_thread) executor_of_thread = std::make_unique<Executor>();
      Lock lock(state.mutex);
      const std::uint64_t limit = state.operation_limit_us;
      const bool is_a5 = state.architecture == 3510;
      lock.unlock();
      return executor_of_thread->run(launch, device.arena, limit, is_a5, text);
    };
    return stream->add(std::move(work));
  });
}

}  // extern "C"
