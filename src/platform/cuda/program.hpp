// Kernels of several files, linked to what runs graphs of them.
#pragma once

#include <map>
#include <span>

#include "platform/cuda/driver.hpp"
#include "platform/cuda/shared_gpu.hpp"

namespace baton::cuda {

/// Loaded until it ends. Graphs hold the one they were made with: addresses of functions are its own.
class Program {
 public:
  Program(const SharedGpu& gpu, std::span<const LoadedKernel* const> kernels);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  /// Where the device calls a kernel.
  [[nodiscard]] std::uint64_t address_of(const LoadedKernel* kernel) const { return addresses_.at(kernel); }
  [[nodiscard]] bool has(const LoadedKernel* kernel) const { return addresses_.contains(kernel); }
  /// What runs one graph.
  [[nodiscard]] Function run_graph() const noexcept { return run_graph_; }
  /// The same with the matrix unit; null if no kernel was compiled for cube cores.
  [[nodiscard]] Function run_matrix_graph() const noexcept { return run_matrix_graph_; }
  /// What stays, and runs graphs and tasks as they come.
  [[nodiscard]] Function stay() const noexcept { return stay_; }
  /// Kernels are compiled for strict pipes: runs have memory for what they touch.
  [[nodiscard]] bool is_strict() const noexcept { return is_strict_; }
  /// What compares clocks.
  [[nodiscard]] Function tell_time() const noexcept { return tell_time_; }

 private:
  [[nodiscard]] Function find(const SharedGpu& gpu, const char* name) const;

  bool is_strict_;
  Module module_ = nullptr;
  Function run_graph_ = nullptr;
  Function run_matrix_graph_ = nullptr;
  Function stay_ = nullptr;
  Function tell_time_ = nullptr;
  std::map<const LoadedKernel*, std::uint64_t> addresses_;
};

}  // namespace baton::cuda
