#include "job/launch/program_path.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/edit_distance.hpp"
#include "base/fail.hpp"
#include "base/quote.hpp"

namespace baton::job {
namespace {

struct Objection {
  Situation situation;
  std::string why;
};

/// Why `path` cannot be executed, or nothing if it can.
std::optional<Objection> objection(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return Objection{Situation::no_such_program, errno == ENOENT ? "there is no such file" : ::strerrordesc_np(errno)};
  }
  if (S_ISDIR(status.st_mode)) return Objection{Situation::program_is_folder, "it is a directory"};
  if (!S_ISREG(status.st_mode)) return Objection{Situation::no_such_program, "it is not a regular file"};
  // The effective user's rights count, as for execve().
  if (::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) != 0) {
    return Objection{Situation::not_executable, errno == EACCES ? "it is not executable" : ::strerrordesc_np(errno)};
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const std::string& program, const Objection& objection, std::vector<std::string> notes = {}) {
  throw error_in(objection.situation, fmt::format("cannot run {}: {}", quote(program), objection.why),
                 std::move(notes));
}

/// A program whose name is nearly that of `path`, in the same folder.
std::vector<std::string> similar_to(const std::string& path) {
  const std::filesystem::path wanted(path);
  const std::filesystem::path folder = wanted.has_parent_path() ? wanted.parent_path() : ".";
  std::error_code ignored;
  std::vector<std::string> notes;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (edit_distance(wanted.filename().string(), entry.path().filename().string()) > 2) continue;
    if (objection(entry.path().string())) continue;
    notes.push_back(fmt::format("there is {}", entry.path().string()));
  }
  return notes;
}

}  // namespace

std::string find_program(const std::string& program, std::string_view search_path) {
  if (program.empty()) fail(Situation::missing_argument, "PROGRAM is empty");
  if (program.find('/') != std::string::npos) {
    if (const auto why = objection(program)) refuse(program, *why, similar_to(program));
    return program;
  }
  std::optional<std::string> nearest;  // found, but not executable
  std::optional<Objection> nearest_why;
  for (std::string_view rest = search_path;;) {
    const std::size_t colon = rest.find(':');
    const std::string_view directory = rest.substr(0, colon);
    std::string path = directory.empty() ? "./" + program : fmt::format("{}/{}", directory, program);
    const auto why = objection(path);
    if (!why) return path;
    if (!nearest && ::access(path.c_str(), F_OK) == 0) {
      nearest = path;
      nearest_why = why;
    }
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  if (nearest) refuse(*nearest, *nearest_why, {fmt::format("{} names it through PATH", quote(program))});
  std::vector<std::string> notes;
  if (::access(program.c_str(), F_OK) == 0) {
    std::error_code ignored;
    notes.push_back(std::filesystem::is_directory(program, ignored)
                        ? "there is a folder of that name here, without a main.py that could be run"
                        : fmt::format("there is a file of that name here: write ./{}", program));
  }
  refuse(program, {Situation::not_in_path, "no directory in PATH has a program of that name"}, std::move(notes));
}

std::string search_path(const std::vector<std::string>& environment) {
  for (const std::string& entry : environment) {
    if (entry.starts_with("PATH=")) return entry.substr(5);
  }
  return "/bin:/usr/bin";
}

}  // namespace baton::job
