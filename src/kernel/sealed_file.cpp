#include "kernel/sealed_file.hpp"

#include <fcntl.h>
#include <stdio.h>

#include "base/fail.hpp"
#include "base/text_file.hpp"
#include "kernel/content_hash.hpp"

namespace baton::kernel {

void write_file(const std::string& path, std::string_view text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) fail_system(fmt::format("opening {}", path));
  while (!text.empty()) {
    const ssize_t count = ::write(file.get(), text.data(), text.size());
    if (count < 0 && errno != EINTR) fail_system(fmt::format("writing {}", path));
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void put_in_place(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail_system(fmt::format("renaming {} to {}", from, to));
}

void write_sealed(const WorkFolder& work, const std::string& path, std::string_view text) {
  const std::string draft = work.file("sealed");
  write_file(draft, fmt::format("{}\n{}", hash_of(text).hex(), text));
  put_in_place(draft, path);
}

std::optional<std::string> read_sealed(const std::string& path) {
  auto content = read_text_file(path);
  if (!content) return std::nullopt;
  const auto line_end = content->find('\n');
  if (line_end == std::string::npos) return std::nullopt;
  const auto checksum = ContentHash::from_hex(std::string_view(*content).substr(0, line_end));
  content->erase(0, line_end + 1);
  if (!checksum || *checksum != hash_of(*content)) return std::nullopt;
  return content;
}

}  // namespace baton::kernel
