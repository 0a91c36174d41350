#include "chip_rank.hpp"

#include <map>
#include <mutex>

#include "kernel_platform.hpp"

namespace baton::test {
namespace {

std::string folder_of_sources() { return std::string(KERNEL_TEST_FOLDER) + "/sources"; }

KernelFile compiled(const std::string& name) {
  return KernelFile::compile(
      for_chip({.source = folder_of_sources() + "/" + name + ".cpp", .include_dirs = {folder_of_sources()}}));
}

ChipOptions options_of(const Domain& me, int clusters) {
  ChipOptions options = chip_of(me.rank());
  options.clusters = clusters;
  options.output_heap_bytes = std::uint64_t{1} << 16U;
  return options;
}

}  // namespace

const LoadedKernel& kernel_of(std::string_view source, std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, KernelFile, std::less<>> files;                 // guarded by mutex
  static std::map<std::pair<std::string, std::string>, LoadedKernel> kernels;  // likewise
  const std::lock_guard lock(mutex);
  auto file = files.find(source);
  if (file == files.end()) file = files.emplace(source, compiled(std::string(source))).first;
  const auto key = std::make_pair(std::string(source), std::string(name));
  auto kernel = kernels.find(key);
  if (kernel == kernels.end()) kernel = kernels.emplace(key, file->second.kernel(name)).first;
  return kernel->second;
}

Numbers::Numbers(ChipRank& rank, std::size_t count, std::string_view name)
    : chip_(rank.chip()), data_(count), tensor_(chip_.alloc<float>({static_cast<std::int64_t>(count)}, name)) {}

Numbers::~Numbers() { chip_.free(tensor_); }

void Numbers::send() const { chip_.copy_in<float>(tensor_, data_); }
void Numbers::fetch() { chip_.copy_out<float>(tensor_, data_); }

ChipRank::ChipRank(const Domain& me, int clusters) : chip_(me, options_of(me, clusters)) {}

void ChipRank::run(const char* kernel, std::initializer_list<Given> arguments, int blocks) {
  run_graph(kernel, arguments, blocks, nullptr, 0);
}

void ChipRank::run_when(const std::int32_t* signal, std::int32_t value, const char* kernel,
                        std::initializer_list<Given> arguments) {
  run_graph(kernel, arguments, 1, signal, value);
}

void ChipRank::run_graph(const char* kernel, std::span<const Given> arguments, int blocks, const std::int32_t* signal,
                         std::int32_t value) {
  const std::string_view text = kernel;
  const std::size_t colon = text.find(':');
  const bool has_name = colon != std::string_view::npos;
  const LoadedKernel& loaded = has_name ? kernel_of(text.substr(0, colon), text.substr(colon + 1)) : kernel_of(text);
  const Kernel submitted = named(loaded, has_name ? loaded.get().name : kernel);
  std::vector<Argument> given;
  for (const Given& one : arguments) {
    if (one.numbers != nullptr) one.numbers->send();
    const Tensor* const tensor = one.numbers != nullptr ? &one.numbers->tensor() : one.tensor;
    given.push_back(tensor == nullptr ? Argument(one.scalar) : Argument(Access::inout, *tensor));
  }
  chip_.run([&](Graph& graph) {
    TaskOptions options{.blocks = static_cast<std::uint32_t>(blocks), .start_together = blocks > 1};
    if (signal != nullptr) options.tokens = {graph.submit_notification_wait(signal, value)};
    graph.submit_arguments(submitted, given, options);
  });
  for (const Given& one : arguments) {
    if (one.numbers != nullptr) one.numbers->fetch();
  }
}

}  // namespace baton::test
