#include "job/launch/program_path.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/fail.hpp"
#include "base/quote.hpp"

namespace baton::job {
namespace {

/// Why `path` cannot be executed, or nothing if it can.
std::optional<std::string> objection(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return errno == ENOENT ? "there is no such file" : ::strerrordesc_np(errno);
  }
  if (S_ISDIR(status.st_mode)) return "it is a directory";
  if (!S_ISREG(status.st_mode)) return "it is no regular file";
  // The effective user's rights count, as for execve().
  if (::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) != 0) {
    return errno == EACCES ? "it is not executable (chmod +x makes it so)" : ::strerrordesc_np(errno);
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const std::string& program, const std::string& why, std::vector<std::string> notes = {}) {
  throw Error(Code::launch_failed, fmt::format("cannot run {}: {}", quote(program), why), std::move(notes));
}

}  // namespace

std::string find_program(const std::string& program, std::string_view search_path) {
  if (program.empty()) fail(Code::launch_failed, "cannot run a program with an empty name");
  if (program.find('/') != std::string::npos) {
    if (const auto why = objection(program)) refuse(program, *why);
    return program;
  }
  std::optional<std::string> nearest;  // found, but not executable
  std::string nearest_why;
  for (std::string_view rest = search_path;;) {
    const std::size_t colon = rest.find(':');
    const std::string_view directory = rest.substr(0, colon);
    std::string path = directory.empty() ? "./" + program : fmt::format("{}/{}", directory, program);
    const auto why = objection(path);
    if (!why) return path;
    if (!nearest && ::access(path.c_str(), F_OK) == 0) {
      nearest = path;
      nearest_why = *why;
    }
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  if (nearest) refuse(*nearest, nearest_why, {fmt::format("{} names it through PATH", quote(program))});
  std::vector<std::string> notes;
  if (::access(program.c_str(), F_OK) == 0) {
    notes.push_back(fmt::format("there is a file of that name here: write ./{}", program));
  }
  refuse(program, "no directory in PATH has a program of that name", std::move(notes));
}

}  // namespace baton::job
