#include "kernel/shortage.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "base/fail.hpp"

namespace baton::kernel {
namespace {

// The system's own words, in the locale that compilers are called with.
constexpr std::array<std::string_view, 2> kNoSpace = {"No space left on device", "Disk quota exceeded"};
// Of gcc, of clang, and of both when the system ends one of their parts.
constexpr std::array<std::string_view, 5> kNoMemory = {"virtual memory exhausted", "out of memory",
                                                       "Cannot allocate memory", "std::bad_alloc",
                                                       "Killed signal terminated program"};

template <std::size_t N>
bool says_one_of(std::string_view output, const std::array<std::string_view, N>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return output.find(word) != std::string_view::npos; });
}

}  // namespace

std::optional<Error> shortage(std::string_view source, std::string_view output, const std::string& folder) {
  if (says_one_of(output, kNoSpace)) {
    std::vector<std::string> notes;
    std::error_code unknown;
    const auto space = std::filesystem::space(folder, unknown);
    if (!unknown) notes.push_back(fmt::format("it has {} KiB left", space.available / 1024));
    return Error(Code::no_space, fmt::format("{} was not compiled: the file system of {} is full", source, folder),
                 std::move(notes));
  }
  if (says_one_of(output, kNoMemory)) {
    return error_in(
        Situation::compiler_memory,
        fmt::format("{} was not compiled: the compiler needs more memory than this machine can give", source));
  }
  return std::nullopt;
}

}  // namespace baton::kernel
