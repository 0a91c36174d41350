// Kernels of collectives for chips that do not run code of the host: written down, compiled and loaded when they are
// first used.
#pragma once

#include <string>

#include <baton/kernel_source.hpp>
#include <collectives/task.hpp>

namespace baton::collectives {

/// Whether kernels that are compiled for the host run on chips of this platform: simulated ones, and libraries of
/// others.
[[nodiscard]] bool has_host_kernels(const std::string& platform);

/// What a kernel is compiled for.
struct DeviceTask {
  enum class Kind : std::uint8_t { collective, message, barrier, all_to_all_v };
  Kind kind = Kind::collective;
  Operation operation = Operation::barrier;    // of a collective
  Algorithm algorithm = Algorithm::automatic;  // likewise
  Element element = Element::uint8;
};

/// The source of the kernel, and its name, which no other one has: a chip has kernels of many files. Names that begin
/// with baton_ are not those of kernels.
struct DeviceKernelSource {
  std::string name;
  std::string text;
};
[[nodiscard]] DeviceKernelSource source_of(const DeviceTask& task);

/// Stays loaded. Takes the compiler of the platform the first time, which may take many seconds; later ones are found
/// in the cache. Throws what KernelFile::compile() throws. Any thread.
[[nodiscard]] const LoadedKernel& device_kernel(const std::string& platform, const DeviceTask& task);

}  // namespace baton::collectives
