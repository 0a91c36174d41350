#include "kernel/dependency_list.hpp"

namespace baton::kernel {

std::vector<std::string> parse_dependencies(std::string_view makefile) {
  const auto colon = makefile.find(": ");
  if (colon == std::string_view::npos) return {};
  makefile.remove_prefix(colon + 1);
  std::vector<std::string> paths;
  std::string path;
  const auto finish = [&] {
    if (!path.empty()) paths.push_back(std::move(path));
    path.clear();
  };
  for (std::size_t i = 0; i < makefile.size(); ++i) {
    const char c = makefile[i];
    const char next = i + 1 < makefile.size() ? makefile[i + 1] : '\0';
    if (c == '\\' && next == '\n') {
      finish();
      ++i;
    } else if ((c == '\\' && (next == ' ' || next == '#')) || (c == '$' && next == '$')) {
      path += next;
      ++i;
    } else if (c == '\n') {
      break;
    } else if (c == ' ') {
      finish();
    } else {
      path += c;
    }
  }
  finish();
  return paths;
}

}  // namespace baton::kernel
