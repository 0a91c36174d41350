#include "comm/kernel_record.hpp"

#include <algorithm>

#include "wire/names.hpp"

namespace baton::comm {
namespace {

constexpr int kKernelReadAttempts = 100;

void write_kernel(wire::KernelRecord& record, const ComputingKernel& kernel) noexcept {
  const std::uint32_t version = record.version.load(std::memory_order_relaxed);
  record.version.store(version + 1, std::memory_order_relaxed);
  // As in write_wait(): releases after the odd version, so that a reader that saw any of them sees the version change.
  record.since_ns.store(kernel.since_ns, std::memory_order_release);
  wire::store_text(record.what, kernel.what);
  wire::store_text(record.where, kernel.where);
  // Pairs with the first load of the version in read_kernel().
  record.version.store(version + 2, std::memory_order_release);
}

/// Its since_ns is 0 if nothing is shown, or it kept changing.
ComputingKernel read_kernel(const wire::KernelRecord& record) {
  for (int attempt = 0; attempt < kKernelReadAttempts; ++attempt) {
    // Pairs with the last store of write_kernel().
    const std::uint32_t before = record.version.load(std::memory_order_acquire);
    if (before % 2 != 0) continue;
    ComputingKernel kernel;
    kernel.since_ns = record.since_ns.load(std::memory_order_acquire);
    kernel.what = wire::load_text(record.what);
    kernel.where = wire::load_text(record.where);
    if (record.version.load(std::memory_order_relaxed) == before) return kernel;
  }
  return {};
}

}  // namespace

void write_kernels(wire::RankBlock& block, std::span<const ComputingKernel> kernels) noexcept {
  const std::size_t shown = std::min(kernels.size(), wire::kKernelRecords);
  for (std::size_t i = 0; i < wire::kKernelRecords; ++i) {
    wire::KernelRecord& record = block.kernels[i];
    if (i < shown) {
      write_kernel(record, kernels[i]);
    } else if (record.since_ns.load(std::memory_order_relaxed) != 0) {
      write_kernel(record, {});
    }
  }
  block.unlisted_kernels.store(static_cast<std::uint32_t>(kernels.size() - shown), std::memory_order_relaxed);
}

std::vector<ComputingKernel> read_kernels(const wire::RankBlock& block) {
  std::vector<ComputingKernel> kernels;
  for (const wire::KernelRecord& record : block.kernels) {
    ComputingKernel kernel = read_kernel(record);
    if (kernel.since_ns != 0) kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace baton::comm
