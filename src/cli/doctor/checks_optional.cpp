#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <optional>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "base/shared_library.hpp"
#include "cli/doctor/findings.hpp"
#include "job/launch/program_path.hpp"

namespace baton::cli {
namespace {

std::optional<std::string> find_first(std::initializer_list<const char*> programs) {
  const char* path = std::getenv("PATH");
  for (const char* program : programs) {
    try {
      return job::find_program(program, path != nullptr ? path : "/bin:/usr/bin");
    } catch (const Error&) {  // not there; the next may be
    }
  }
  return std::nullopt;
}

Finding check_program(std::string item, std::initializer_list<const char*> programs, std::string use,
                      std::string remedy) {
  const auto path = find_first(programs);
  if (path) return {.item = std::move(item), .verdict = Verdict::ok, .text = fmt::format("{}, {}", *path, use)};
  return {.item = std::move(item), .verdict = Verdict::missing, .text = fmt::format("{}; {}", use, remedy)};
}

Finding check_ucx() {
  static_cast<void>(SharedLibrary::of_system("libucp.so.0", Code::unsupported));
  return {.item = {}, .verdict = Verdict::ok, .text = "libucp.so.0, ranks on several hosts communicate over it"};
}

}  // namespace

std::vector<Finding> check_optional() {
  std::vector<Finding> findings = {
      check_program("C++ compiler", {"c++", "g++", "clang++"}, "builds programs that use Baton",
                    "g++ 12 or clang++ 14 and later will do"),
      try_out("UCX", Need::optional, check_ucx)};
  for (const char* platform : {"cuda", "a2a3", "a5"}) {
    for (Finding& finding : check_platform(platform)) {
      // One line each; `baton doctor --platform` tells the rest.
      finding.text.resize(std::min(finding.text.find('\n'), finding.text.size()));
      if (findings.back().item != finding.item) findings.push_back(std::move(finding));
    }
  }
  findings.push_back(check_program("Open MPI", {"mpirun.openmpi", "ompi_info"}, "the benchmarks compare with it",
                                   "not needed otherwise"));
  findings.push_back(check_program("MPICH", {"mpirun.mpich", "mpichversion"}, "the benchmarks compare with it",
                                   "not needed otherwise"));
  return findings;
}

}  // namespace baton::cli
