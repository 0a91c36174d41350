// The processor that kernels are compiled for.
#pragma once

#include <string>
#include <string_view>

namespace baton::kernel {

/// What a description in the form of /proc/cpuinfo says about the make and the instructions of its first processor, and
/// not how fast it is at the moment. Empty if it says nothing.
[[nodiscard]] std::string processor_identity(std::string_view description);

/// That of this machine. Empty if the system does not tell.
[[nodiscard]] const std::string& this_processor();

/// The flag with which compilers use all instructions of the processor they run on.
#if defined(__x86_64__)
inline constexpr std::string_view kForThisProcessor = "-march=native";
#else
inline constexpr std::string_view kForThisProcessor = "-mcpu=native";
#endif

}  // namespace baton::kernel
