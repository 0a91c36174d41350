// One process at a time for each key of the cache.
#pragma once

#include <optional>
#include <string>

#include "base/deadline.hpp"
#include "base/unique_fd.hpp"
#include "kernel/content_hash.hpp"

namespace baton::kernel {

/// Held by one owner among all processes and threads; the system frees it when its owner dies.
/// All keys share one file: each locks a byte of its own far beyond the end, so nothing has to be removed afterwards.
class KeyLock {
 public:
  /// Blocks until the lock is free. Nothing at the deadline.
  [[nodiscard]] static std::optional<KeyLock> wait(const std::string& path, ContentHash key, const Deadline& deadline);

  KeyLock(KeyLock&&) noexcept = default;
  KeyLock& operator=(KeyLock&&) = delete;
  ~KeyLock();

 private:
  KeyLock(UniqueFd file, ContentHash key) noexcept : file_(std::move(file)), key_(key) {}

  UniqueFd file_;
  ContentHash key_;
};

}  // namespace baton::kernel
