#include "chip/cores/sim/tile_file.hpp"

#include <string_view>
#include <utility>

#include "chip/cores/npy_file.hpp"

namespace baton::chip {
namespace {

std::string path_of(std::string path, const DumpOrigin& origin) {
  const std::pair<std::string_view, const std::string&> words[] = {
      {"{rank}", origin.rank}, {"{core}", origin.core}, {"{kernel}", origin.kernel}, {"{block}", origin.block}};
  for (const auto& [word, value] : words) {
    for (std::size_t at = path.find(word); at != std::string::npos; at = path.find(word, at + value.size())) {
      path.replace(at, word.size(), value);
    }
  }
  return path;
}

}  // namespace

void write_tile_file(const BatonDump& dump, const DumpOrigin& origin) {
  const std::int64_t shape[] = {static_cast<std::int64_t>(dump.rows), static_cast<std::int64_t>(dump.cols)};
  NpyFile file(path_of(dump.path, origin), dump.type, shape);
  file.write(dump.elements, static_cast<std::size_t>(dump.rows * dump.cols) * dump.element_bytes);
  file.close();
}

}  // namespace baton::chip
