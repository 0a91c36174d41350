// Whether a file is still the one that was read, without reading it again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernel/content_hash.hpp"

namespace baton::kernel {

/// What changes when a file's content does. The default value is the stamp of no file.
struct FileStamp {
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  ///< Of the inode: nobody can set it back.
  std::uint64_t inode = 0;
  std::uint64_t device = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// Nothing if there is no such file.
[[nodiscard]] std::optional<FileStamp> stamp_of(const std::string& path) noexcept;

/// Now, on the clock from which the system takes the times of files. It stands still between ticks of a few
/// milliseconds: of two changes within one tick the second leaves no trace.
[[nodiscard]] std::int64_t file_clock_ns() noexcept;

/// A file as it was when it was hashed.
struct HashedFile {
  std::string path;
  FileStamp stamp;
  ContentHash hash;
};

/// Reads the file and hashes it; nothing if it cannot be read. A file that changed within the current tick, and might
/// change once more unseen, gets the stamp of no file, so that it is read again next time.
[[nodiscard]] std::optional<HashedFile> hash_file(const std::string& path);

}  // namespace baton::kernel
