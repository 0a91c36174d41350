#include "chip_rank.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>

#include <pto/target/core.hpp>

#include "comm/domain_state.hpp"
#include "kernel/compile.hpp"

namespace baton::test {
namespace {

std::string folder_of_sources() { return std::string(KERNEL_TEST_FOLDER) + "/sources"; }

kernel::KernelLibrary compiled(const std::string& name) {
  Options options = baton::options();
  options.cache_dir = KERNEL_TEST_CACHE;
  const kernel::CompileRequest request{.source = folder_of_sources() + "/" + name + ".cpp",
                                       .text = std::nullopt,
                                       .include_dirs = {folder_of_sources()},
                                       .defines = {},
                                       .flags = {KERNEL_TEST_FLAGS}};
  kernel::KernelLibrary library = kernel::load(kernel::compile(request, options).library);
  library.bind_core(baton_core_current);
  return library;
}

}  // namespace

BatonKernelFunction kernel_named(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, kernel::KernelLibrary, std::less<>> libraries;  // guarded by mutex
  const std::lock_guard lock(mutex);
  auto found = libraries.find(name);
  if (found == libraries.end()) found = libraries.emplace(name, compiled(std::string(name))).first;
  return found->second.entry();
}

HostTensor::HostTensor(chip::WindowMemory& memory, std::size_t count, std::string name)
    : memory_(memory), data_(count) {
  memory_.add_buffer(data_.data(), count * sizeof(float), std::move(name));
  tensor_.buffer = {reinterpret_cast<std::uint64_t>(data_.data()), count * sizeof(float)};
  tensor_.ndims = 1;
  tensor_.shapes[0] = static_cast<std::uint32_t>(count);
  tensor_.strides[0] = 1;
}

HostTensor::~HostTensor() { memory_.remove_buffer(data_.data()); }

ChipRank::ChipRank(const Domain& me, int clusters)
    : memory_(comm::DomainAccess::state(me)->world_pointer()),
      cores_(chip::profile_named("a2a3sim"), {.clusters = clusters}, memory_) {}

void ChipRank::run(const char* kernel, const std::vector<std::int64_t>& arguments) { run_blocks(kernel, arguments, 1); }

void ChipRank::run_blocks(const char* kernel, const std::vector<std::int64_t>& arguments, int blocks) {
  std::vector<chip::KernelCall> calls(static_cast<std::size_t>(blocks));
  for (int block = 0; block < blocks; ++block) {
    chip::KernelCall& call = calls[static_cast<std::size_t>(block)];
    call.entry = kernel_named(kernel);
    call.name = kernel;
    std::ranges::copy(arguments, call.args.begin());
    call.block_index = block;
    call.block_count = blocks;
    cores_.post(cores_.vector(block / chip::kVectorsPerCluster, block % chip::kVectorsPerCluster), call);
  }
  std::exception_ptr first;
  for (chip::KernelCall& call : calls) {
    try {
      wait_for_end(call);
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

void ChipRank::wait_for_end(chip::KernelCall& call) {
  // The chip waits for a kernel as long as the kernel for its signals, and a core may still run it then: the call may
  // not go before it has ended.
  while (true) {
    try {
      return cores_.wait(call);
    } catch (const Error&) {
      // Pairs with the core's store, after which the call is ours.
      if (call.finished.load(std::memory_order_acquire)) throw;
    }
  }
}

}  // namespace baton::test
