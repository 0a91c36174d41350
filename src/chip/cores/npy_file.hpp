// Files of NumPy's, as numpy.load() reads them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace baton::chip {

/// Written from front to back: its header, then all elements in row-major order. Functions throw Error (system,
/// no_space).
class NpyFile {
 public:
  /// `type` is NumPy's word for an element, such as "<f4".
  NpyFile(const std::string& path, std::string_view type, std::span<const std::int64_t> shape);

  void write(const void* elements, std::size_t bytes);
  /// What was written is in the file, as far as the system tells.
  void close();

 private:
  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace baton::chip
