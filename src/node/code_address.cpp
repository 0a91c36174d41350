#include "node/code_address.hpp"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>

#include "base/fail.hpp"

namespace baton::node {
namespace {

const link_map& map_of(const void* address, Dl_info& info) {
  void* extra = nullptr;
  if (::dladdr1(address, &info, &extra, RTLD_DL_LINKMAP) == 0 || extra == nullptr) {
    fail(Code::invalid_argument, "the code at {} belongs to no loaded file: a chip cannot run it", address);
  }
  return *static_cast<const link_map*>(extra);
}

const link_map& map_of_handle(void* handle) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) fail(Code::launch_failed, "dlinfo: {}", ::dlerror());
  return *map;
}

}  // namespace

CodeAddress find_code(const void* address) {
  Dl_info info{};
  const link_map& map = map_of(address, info);
  const std::string file = map.l_name == nullptr ? "" : map.l_name;
  return {file.empty() ? "" : std::filesystem::absolute(file).string(),
          reinterpret_cast<std::uint64_t>(address) - map.l_addr};
}

void* load_code(const CodeAddress& place) {
  // Never unloaded: what it defines may be in use until the process ends.
  void* handle = ::dlopen(place.file.empty() ? nullptr : place.file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fail(Code::launch_failed, "a chip cannot load {}: {}", place.file, ::dlerror());
  return reinterpret_cast<void*>(map_of_handle(handle).l_addr + place.offset);
}

std::string file_of(const void* address) {
  Dl_info info{};
  const link_map& map = map_of(address, info);
  const std::string file = map.l_name == nullptr ? "" : map.l_name;
  std::error_code error;
  const auto resolved = std::filesystem::canonical(file.empty() ? "/proc/self/exe" : file, error);
  return error ? file : resolved.string();
}

}  // namespace baton::node
