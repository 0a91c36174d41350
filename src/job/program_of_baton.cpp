#include "job/program_of_baton.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <vector>

#include "base/environment.hpp"
#include "base/fail.hpp"
#include "job/launch/program_path.hpp"

namespace baton::job {
namespace {

/// Of the library, or of the program that it is linked into.
std::filesystem::path own_folder() {
  Dl_info info{};
  void* extra = nullptr;
  std::error_code error;
  if (::dladdr1(reinterpret_cast<const void*>(&find_program_of_baton), &info, &extra, RTLD_DL_LINKMAP) != 0) {
    const auto& map = *static_cast<const link_map*>(extra);
    if (map.l_name != nullptr && *map.l_name != '\0')
      return std::filesystem::canonical(map.l_name, error).parent_path();
  }
  return std::filesystem::canonical("/proc/self/exe", error).parent_path();
}

}  // namespace

std::string find_program_of_baton(const std::string& name) {
  const std::filesystem::path folder = own_folder();
  const std::array<std::filesystem::path, 3> places = {folder / name, folder.parent_path() / "bin" / name,
                                                       folder.parent_path() / "libexec" / "baton" / name};
  std::vector<std::string> notes;
  for (const auto& place : places) {
    if (::access(place.c_str(), X_OK) == 0) return place.string();
    notes.push_back("not there: " + place.string());
  }
  try {
    return find_program(name, search_path(environment_of_this_process()));
  } catch (const Error& error) {
    notes.push_back(error.message());
  }
  throw Error(Code::launch_failed, fmt::format("the program {} was not found", name), std::move(notes));
}

}  // namespace baton::job
