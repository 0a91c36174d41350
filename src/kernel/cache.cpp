#include "kernel/cache.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "base/fail.hpp"
#include "base/text_file.hpp"
#include "kernel/cache_files.hpp"
#include "kernel/private_files.hpp"
#include "kernel/sealed_file.hpp"

namespace baton::kernel {
namespace {

enum class Files { unchanged, unchanged_but_newer, different };

/// Holds the included files against what they were. `unchanged_but_newer`: same content, other stamps, which are in
/// `compilation` then.
Files compare(Compilation& compilation) {
  Files result = Files::unchanged;
  for (HashedFile& file : compilation.included) {
    const auto stamp = stamp_of(file.path);
    if (!stamp) return Files::different;
    if (*stamp == file.stamp) continue;
    auto now = hash_file(file.path);
    if (!now || now->hash != file.hash) return Files::different;
    if (now->stamp != FileStamp{}) result = Files::unchanged_but_newer;
    file = *std::move(now);
  }
  return result;
}

/// A name that no other process and no other call uses.
std::string unique_name() {
  static std::atomic<std::uint64_t> counter{0};
  SequenceHash hash;
  hash.add(fmt::format("{} {} {}", ::getpid(), file_clock_ns(), counter.fetch_add(1, std::memory_order_relaxed)));
  return hash.finish().hex();
}

}  // namespace

std::string default_cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return std::string(cache) + "/baton";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::string(home) + "/.cache/baton";
  }
  return fmt::format("/tmp/baton-cache-{}", ::geteuid());
}

Cache::Cache(const std::string& folder, std::uint64_t limit_bytes)
    // A compiler's list of files is held against the path, and dlopen() takes it as a file: it has one spelling.
    : folder_(make_private_folders(folder, kCacheFolders)), limit_bytes_(limit_bytes) {}

Cache::Cache(const Options& options)
    : Cache(options.cache_dir ? *options.cache_dir : default_cache_folder(), options.cache_bytes) {}

bool Cache::is_intact(const Compilation& compilation) const {
  if (compilation.library.find('/') != std::string::npos) return false;
  const auto content = read_private_file(library_file(compilation.library));
  return content && content->size() == compilation.library_bytes && hash_of(*content) == compilation.library_hash;
}

std::optional<std::string> Cache::find(ContentHash source_key) const {
  const std::string path = manifest_file(source_key);
  const auto manifest = read_sealed(path, source_key);
  if (!manifest) return std::nullopt;
  std::string_view rest = *manifest;
  while (auto compilation = take_compilation(rest)) {
    const Files files = compare(*compilation);
    if (files == Files::different) continue;
    // Before the check: what is found whole after this is not removed for a while.
    mark_used(library_file(compilation->library));
    if (!is_intact(*compilation)) continue;
    if (files == Files::unchanged_but_newer) {
      const WorkFolder work(work_parent());
      write_sealed(work, path, source_key, with_compilation(*compilation, *manifest));
    }
    mark_used(path);
    return library_file(compilation->library);
  }
  return std::nullopt;
}

std::string Cache::keep(ContentHash source_key, const std::string& stem, const std::string& library,
                        std::vector<HashedFile> included, const WorkFolder& work) const {
  const auto content = read_text_file(library);
  if (!content) fail_system(fmt::format("reading {}", library));
  SequenceHash name;
  name.add(source_key);
  for (const HashedFile& file : included) {
    name.add(file.path);
    name.add(file.hash);
  }
  const Compilation compilation{.library = fmt::format("{}-{}.so", stem, name.finish().hex()),
                                .library_bytes = content->size(),
                                .library_hash = hash_of(*content),
                                .included = std::move(included)};
  make_private_file(library);
  put_in_place(library, library_file(compilation.library));
  // Last: a reader that finds the manifest finds the library.
  const std::string path = manifest_file(source_key);
  write_sealed(work, path, source_key, with_compilation(compilation, read_sealed(path, source_key).value_or("")));
  return library_file(compilation.library);
}

std::string Cache::keep_once(const std::string& stem, const std::string& library) const {
  std::string place = library_file(fmt::format("{}-{}.so", stem, unique_name()));
  make_private_file(library);
  put_in_place(library, place);
  return place;
}

std::optional<std::string> Cache::find_content(ContentHash content, std::uint64_t bytes) const {
  const Compilation sent{
      .library = name_of_content(content), .library_bytes = bytes, .library_hash = content, .included = {}};
  // Before the check: what is found whole after this is not removed for a while.
  mark_used(library_file(sent.library));
  if (!is_intact(sent)) return std::nullopt;
  return library_file(sent.library);
}

std::string Cache::keep_content(ContentHash hash, std::string_view content) const {
  std::string place = library_file(name_of_content(hash));
  {
    const WorkFolder work(work_parent());
    write_file(work.file("library.so"), content);
    put_in_place(work.file("library.so"), place);
  }
  trim();
  return place;
}

}  // namespace baton::kernel
