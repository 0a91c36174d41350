#include "kernel/sealed_file.hpp"

#include <fcntl.h>
#include <stdio.h>

#include "base/fail.hpp"
#include "kernel/private_files.hpp"

namespace baton::kernel {
namespace {

/// A file that was put in the place of another one does not have the seal of its key.
ContentHash seal_of(ContentHash key, std::string_view text) {
  SequenceHash seal;
  seal.add(key);
  seal.add(text);
  return seal.finish();
}

}  // namespace

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

void write_sealed(const WorkFolder& work, const std::string& path, ContentHash key, std::string_view text) {
  const std::string draft = work.file("sealed");
  write_file(draft, fmt::format("{}\n{}", seal_of(key, text).hex(), text));
  put_in_place(draft, path);
}

std::optional<std::string> read_sealed(const std::string& path, ContentHash key) {
  auto content = read_private_file(path);
  if (!content) return std::nullopt;
  const auto line_end = content->find('\n');
  if (line_end == std::string::npos) return std::nullopt;
  const auto checksum = ContentHash::from_hex(std::string_view(*content).substr(0, line_end));
  content->erase(0, line_end + 1);
  if (!checksum || *checksum != seal_of(key, *content)) return std::nullopt;
  return content;
}

}  // namespace baton::kernel
