#include "kernel/compiler.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <sstream>
#include <string_view>

#include "base/environment.hpp"
#include "base/fail.hpp"
#include "base/liveness.hpp"
#include "base/quote.hpp"
#include "kernel/file_stamp.hpp"
#include "kernel/run_program.hpp"
#include "kernel/sealed_file.hpp"

namespace baton::kernel {
namespace {

constexpr const char* kUsualNames[] = {"c++", "g++", "clang++"};

bool is_program(const std::string& path) {
  std::error_code ignored;
  return ::access(path.c_str(), X_OK) == 0 && !std::filesystem::is_directory(path, ignored);
}

std::optional<std::string> look_up(const std::string& name, const std::string& search_path) {
  if (name.find('/') != std::string::npos) {
    if (!is_program(name)) return std::nullopt;
    return std::filesystem::absolute(name).string();
  }
  std::istringstream folders(search_path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string path = (folder.empty() ? "." : folder) + "/" + name;
    if (is_program(path)) return std::filesystem::absolute(path).string();
  }
  return std::nullopt;
}

std::vector<std::string> split_words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> chosen_words(const std::optional<std::string>& wish, const std::string& search_path) {
  if (!wish) {
    for (const char* name : kUsualNames) {
      if (auto path = look_up(name, search_path)) return {*std::move(path)};
    }
    throw Error(Code::unsupported, "there is no C++ compiler: none of c++, g++ and clang++ is on the PATH",
                {"install one: apt-get install g++ (Debian, Ubuntu), dnf install gcc-c++ (Fedora)",
                 "or name one: BATON_CXX=/path/to/g++"});
  }
  std::vector<std::string> words = split_words(*wish);
  const auto path = words.empty() ? std::nullopt : look_up(words.front(), search_path);
  if (!path) {
    throw Error(Code::unsupported,
                fmt::format("the C++ compiler {}, which BATON_CXX names, is not there", quote(*wish)),
                {"install it, or unset BATON_CXX to use the first of c++, g++ and clang++ on the PATH"});
  }
  words.front() = *path;
  return words;
}

/// Paths and stamps of the words that are programs: with "ccache g++" both count.
std::string describe_files(const std::vector<std::string>& words, const std::string& search_path) {
  std::string text;
  for (const std::string& word : words) {
    text += word + "\n";
    const auto path = word.starts_with('-') ? std::nullopt : look_up(word, search_path);
    const auto stamp = path ? stamp_of(*path) : std::nullopt;
    if (stamp) text += fmt::format("{} {} {} {}\n", *path, stamp->size, stamp->modified_ns, stamp->changed_ns);
  }
  return text;
}

std::string ask_version(const std::vector<std::string>& words, const Cache& cache, const Deadline& deadline) {
  const WorkFolder work(cache.work_parent());
  ProgramCall call{.arguments = words, .environment = compiler_environment(work.path())};
  call.arguments.emplace_back("--version");
  const ProgramEnd end = run_program(call, deadline);
  if (end.how == ProgramEnd::How::timed_out || end.status.value_or(0) != 0 || end.output.empty()) {
    throw Error(Code::unsupported,
                fmt::format("{} is not a usable C++ compiler: {} --version {}", words.front(), fmt::join(words, " "),
                            end.how == ProgramEnd::How::timed_out ? "does not end"
                            : end.status.value_or(0) != 0         ? "ends with " + describe_wait_status(*end.status)
                                                                  : "says nothing"),
                {"BATON_CXX names another one"});
  }
  return end.output;
}

/// Whether the environment's `entry`, NAME=VALUE, has one of these names.
bool is_among(std::span<const std::string_view> names, std::string_view entry) {
  return std::ranges::find(names, entry.substr(0, entry.find('='))) != names.end();
}

}  // namespace

Compiler find_compiler(const std::optional<std::string>& wish, const std::string& search_path, const Cache& cache,
                       const Deadline& deadline) {
  Compiler compiler;
  compiler.words = chosen_words(wish, search_path);
  const std::string files = describe_files(compiler.words, search_path);
  const ContentHash key = hash_of(files);
  const std::string note = cache.note_file(key);
  auto version = read_sealed(note, key);
  if (!version) {
    version = ask_version(compiler.words, cache, deadline);
    const WorkFolder work(cache.work_parent());
    write_sealed(work, note, key, *version);
  }
  compiler.version = version->substr(0, version->find('\n'));
  compiler.family = version->find("clang") != std::string::npos ? CompilerFamily::clang : CompilerFamily::gcc;
  compiler.identity = files + *version;
  return compiler;
}

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::vector<std::string> compiler_environment(const std::string& work) {
  // The first group is set below. The second makes a compiler write lists of files where nobody asked for them.
  constexpr std::string_view kDropped[] = {"LC_ALL", "LANGUAGE", "TMPDIR", "DEPENDENCIES_OUTPUT",
                                           "SUNPRO_DEPENDENCIES"};
  std::vector<std::string> out = environment_of_this_process();
  std::erase_if(out, [&](const std::string& entry) { return is_among(kDropped, entry); });
  out.emplace_back("LC_ALL=C");
  out.push_back("TMPDIR=" + work);
  return out;
}

std::vector<std::string> meaningful_variables() {
  constexpr std::string_view kMeaningful[] = {
      "CPATH",           "CPLUS_INCLUDE_PATH",   "LIBRARY_PATH",     "COMPILER_PATH",
      "GCC_EXEC_PREFIX", "CCC_OVERRIDE_OPTIONS", "SOURCE_DATE_EPOCH"};
  std::vector<std::string> out = environment_of_this_process();
  std::erase_if(out, [&](const std::string& entry) { return !is_among(kMeaningful, entry); });
  std::ranges::sort(out);
  return out;
}

}  // namespace baton::kernel
