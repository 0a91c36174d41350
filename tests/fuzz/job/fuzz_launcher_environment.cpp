// Environments of launchers: no assignment, one that makes sense, or an error that names its variable.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include <baton/error.hpp>

#include "fuzz_target.hpp"
#include "job/launcher_environment.hpp"

namespace {

/// Lines of the form NAME=value.
std::map<std::string, std::string, std::less<>> read(std::string_view text) {
  std::map<std::string, std::string, std::less<>> variables;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) variables.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return variables;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto variables = read({reinterpret_cast<const char*>(data), size});
  const bool has_process = size % 2 == 0;
  try {
    const auto assignment = baton::job::find_assignment(
        [&](std::string_view name) -> std::optional<std::string> {
          const auto found = variables.find(name);
          return found == variables.end() ? std::nullopt : std::optional(found->second);
        },
        [&] { return has_process ? std::optional<std::string>("1.2") : std::nullopt; });
    if (!assignment) return 0;
    FUZZ_REQUIRE(assignment->rank >= 0 && assignment->rank < assignment->size);
    FUZZ_REQUIRE(!assignment->launcher.empty());
    FUZZ_REQUIRE(assignment->rendezvous.starts_with(assignment->launcher));
    FUZZ_REQUIRE(assignment->rendezvous.size() > assignment->launcher.size() || assignment->several_hosts);
  } catch (const baton::Error& error) {
    FUZZ_REQUIRE(error.code() == baton::Code::bad_launcher_environment || error.code() == baton::Code::unsupported);
    FUZZ_REQUIRE(
        std::all_of(error.message().begin(), error.message().end(), [](char c) { return c >= ' ' && c <= '~'; }));
  }
  return 0;
}
