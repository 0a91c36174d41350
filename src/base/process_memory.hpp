// Copies between the memory of this process and that of another one, by the system: one copy, nothing shared.
#pragma once

#include <cstddef>
#include <cstdint>

namespace baton {

/// Both return 0, or the error that the system gave: ESRCH (it has ended), EPERM (this process may not), EFAULT (there
/// is no such memory) ... Bytes may have been copied then.
[[nodiscard]] int read_process_memory(std::uint32_t pid, const std::byte* from, std::byte* to,
                                      std::size_t bytes) noexcept;
[[nodiscard]] int write_process_memory(std::uint32_t pid, const std::byte* from, std::byte* to,
                                       std::size_t bytes) noexcept;

}  // namespace baton
