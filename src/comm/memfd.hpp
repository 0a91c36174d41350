// Memory without a name: a memfd, sealed so that nobody can shrink it under those who map it.
#pragma once

#include <cstdint>
#include <memory>

#include "base/unique_fd.hpp"
#include "comm/shared_memory.hpp"

namespace baton::comm {

/// A new zeroed memfd of `bytes`, sealed against shrinking and growing. `name` appears in /proc only.
[[nodiscard]] UniqueFd create_memfd(const char* name, std::uint64_t bytes);

/// Maps all of `fd` for reading and writing. Throws Error (protocol) unless it is a memfd of exactly `bytes`, sealed
/// against shrinking: then no access to the mapping can ever fail.
[[nodiscard]] std::shared_ptr<SharedMemory> map_memfd(const UniqueFd& fd, std::uint64_t bytes);

}  // namespace baton::comm
