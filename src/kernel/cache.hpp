// The cache of compiled kernels: a folder that many processes use at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <baton/options.hpp>

#include "kernel/content_hash.hpp"
#include "kernel/manifest.hpp"
#include "kernel/work_folder.hpp"

namespace baton::kernel {

/// What lies in a cache.
struct CacheUsage {
  std::uint64_t bytes = 0;
  std::uint64_t libraries = 0;
};

/// Any thread may use one; it holds no state but names. Nothing in the folder is ever changed in place: files appear
/// and vanish as a whole, so a process that is killed leaves nothing that another could mistake for finished.
class Cache {
 public:
  /// Makes the folder if need be. Throws Error (system) if that fails or if others could have written to it
  /// (private_files.hpp).
  Cache(const std::string& folder, std::uint64_t limit_bytes);
  /// The one that `options` name.
  explicit Cache(const Options& options);

  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] std::uint64_t limit_bytes() const noexcept { return limit_bytes_; }
  [[nodiscard]] std::string lock_file() const { return folder_ + "/lock"; }
  [[nodiscard]] std::string log_file(ContentHash key) const { return folder_ + "/logs/" + key.hex() + ".log"; }
  [[nodiscard]] std::string note_file(ContentHash key) const { return folder_ + "/compilers/" + key.hex(); }
  [[nodiscard]] std::string work_parent() const { return folder_ + "/work"; }

  /// The library that was compiled from the source with this key and the included files as they are now.
  [[nodiscard]] std::optional<std::string> find(ContentHash source_key) const;

  /// Takes the library from the work folder and remembers what it was made of. Returns its place.
  [[nodiscard]] std::string keep(ContentHash source_key, const std::string& stem, const std::string& library,
                                 std::vector<HashedFile> included, const WorkFolder& work) const;

  /// Takes the library although it cannot be found again: what it was made of changed meanwhile.
  [[nodiscard]] std::string keep_once(const std::string& stem, const std::string& library) const;

  /// A library that was not compiled here, by what is in it.
  [[nodiscard]] std::optional<std::string> find_content(ContentHash content, std::uint64_t bytes) const;
  /// Keeps one, whose hash is `hash`. Returns its place.
  [[nodiscard]] std::string keep_content(ContentHash hash, std::string_view content) const;

  [[nodiscard]] CacheUsage usage() const;
  /// Brings the cache below its limit. What was used in the last two minutes stays in any case: somebody may be about
  /// to load it.
  void trim() const;
  /// Removes everything that is not in use by a compiler. Returns what was there.
  CacheUsage clear() const;

 private:
  [[nodiscard]] std::string manifest_file(ContentHash key) const { return folder_ + "/manifests/" + key.hex(); }
  [[nodiscard]] std::string library_file(const std::string& name) const { return folder_ + "/libraries/" + name; }
  [[nodiscard]] static std::string name_of_content(ContentHash hash) { return "sent-" + hash.hex() + ".so"; }
  [[nodiscard]] bool is_intact(const Compilation& compilation) const;

  std::string folder_;
  std::uint64_t limit_bytes_;
};

/// $XDG_CACHE_HOME/baton, ~/.cache/baton, or a folder of this user below /tmp if there is no home.
[[nodiscard]] std::string default_cache_folder();

}  // namespace baton::kernel
