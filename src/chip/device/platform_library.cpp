#include "chip/device/platform_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/fail.hpp"
#include "base/quote.hpp"
#include "chip/cores/profile.hpp"

namespace baton::platform {
namespace {

/// The folder of the library or program that this function is part of.
std::filesystem::path own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code ignored;
  return std::filesystem::weakly_canonical(info.dli_fname, ignored).parent_path();
}

SharedLibrary load(const std::string& platform) {
  if (platform.find('/') != std::string::npos) return {platform, Code::unsupported};
  const bool plain = !platform.empty() && std::ranges::all_of(platform, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  if (!plain) fail(Code::invalid_argument, "{} is not the name of a platform", quote(platform));
  const std::vector<std::string> places = candidates(platform);
  for (const std::string& place : places) {
    std::error_code ignored;
    if (std::filesystem::exists(place, ignored)) return {place, Code::unsupported};
  }
  std::vector<std::string> notes{"simulated are " + chip::profile_names()};
  for (const std::string& place : places) notes.push_back("there is no " + place);
  throw error_in(Situation::no_such_platform, fmt::format("there is no platform {}", quote(platform)),
                 std::move(notes));
}

/// Before any other function is called: their types may have changed.
SharedLibrary checked(SharedLibrary library) {
  const uint32_t version = library.required<BatonPlatformVersion>("baton_platform_version")();
  if (version != BATON_PLATFORM_VERSION) {
    throw Error(Code::unsupported,
                fmt::format("{} has version {} of the platform interface; this Baton has {}", library.path(), version,
                            BATON_PLATFORM_VERSION),
                {"build the platform with the headers of this Baton"});
  }
  return library;
}

}  // namespace

std::vector<std::string> candidates(const std::string& platform) {
  const std::string file = "libbaton_" + platform + ".so";
  const std::filesystem::path folder = own_folder();
  std::vector<std::string> places;
  const auto add = [&](const std::filesystem::path& in) {
    std::string place = (in / file).string();
    if (std::ranges::find(places, place) == places.end()) places.push_back(std::move(place));
  };
  if (!folder.empty()) {
    add(folder);
    add(folder.parent_path() / "lib");
  }
  const char* search = std::getenv("LD_LIBRARY_PATH");
  std::istringstream folders(search == nullptr ? "" : search);
  for (std::string entry; std::getline(folders, entry, ':');) {
    if (!entry.empty()) add(entry);
  }
  return places;
}

PlatformLibrary::PlatformLibrary(const std::string& platform)
    : library_(checked(load(platform))),
      last_error(library_.required<BatonPlatformLastError>("baton_platform_last_error")),
      open(library_.required<BatonDeviceOpen>("baton_device_open")),
      close(library_.required<BatonDeviceClose>("baton_device_close")),
      alloc(library_.required<BatonDeviceAlloc>("baton_device_alloc")),
      free(library_.required<BatonDeviceFree>("baton_device_free")),
      copy_in(library_.required<BatonDeviceCopyIn>("baton_device_copy_in")),
      copy_out(library_.required<BatonDeviceCopyOut>("baton_device_copy_out")),
      load_kernel(library_.required<BatonDeviceLoadKernel>("baton_device_load_kernel")),
      describe(library_.required<BatonDeviceDescribe>("baton_device_describe")),
      graph_make(library_.required<BatonGraphMake>("baton_graph_make")),
      graph_set(library_.required<BatonGraphSet>("baton_graph_set")),
      graph_run(library_.required<BatonGraphRun>("baton_graph_run")),
      graph_free(library_.required<BatonGraphFree>("baton_graph_free")),
      attach_comm(library_.optional<BatonDeviceAttachComm>("baton_device_attach_comm")),
      stream(library_.optional<BatonDeviceStream>("baton_device_stream")),
      set_clusters(library_.optional<BatonDeviceSetClusters>("baton_device_set_clusters")),
      dlpack(library_.optional<BatonDeviceDlpack>("baton_device_dlpack")),
      window_open(library_.optional<BatonWindowOpen>("baton_window_open")),
      window_leave(library_.optional<BatonWindowLeave>("baton_window_leave")),
      window_close(library_.optional<BatonWindowClose>("baton_window_close")),
      open_part(library_.optional<BatonDeviceOpenPart>("baton_device_open_part")),
      stream_begin(library_.optional<BatonStreamBegin>("baton_stream_begin")),
      stream_submit(library_.optional<BatonStreamSubmit>("baton_stream_submit")),
      stream_wait(library_.optional<BatonStreamWait>("baton_stream_wait")),
      comm_init(library_.optional<void*(int, int, void*, const char*)>("comm_init")),
      comm_alloc_windows(library_.optional<int(void*, size_t, uint64_t*)>("comm_alloc_windows")),
      comm_get_local_window_base(library_.optional<int(void*, uint64_t*)>("comm_get_local_window_base")),
      comm_get_window_size(library_.optional<int(void*, size_t*)>("comm_get_window_size")),
      comm_barrier(library_.optional<int(void*)>("comm_barrier")),
      comm_destroy(library_.optional<int(void*)>("comm_destroy")),
      comm_last_error(library_.optional<const char*()>("comm_last_error")) {}

MemoryPlace PlatformLibrary::memory_place(BatonDevice* device) const {
  BatonDeviceDescription description{};
  check("baton_device_describe", describe(device, &description));
  if (description.memory == BATON_MEMORY_HOST) return {};
  MemoryPlace place{.kind = MemoryPlace::kUnnamed};
  if (dlpack) check("baton_device_dlpack", dlpack(device, &place.kind, &place.device));
  return place;
}

void PlatformLibrary::check(const char* function, int status) const {
  if (status == 0) return;
  const bool of_comm = std::string_view(function).starts_with("comm_");
  const char* said = nullptr;
  if (!of_comm) {
    said = last_error();
  } else if (comm_last_error) {
    said = comm_last_error();
  }
  // A message of our own C interface ends with remedy and code; the code the error made here gets again.
  std::string message = said == nullptr || *said == '\0' ? fmt::format("{} failed with {}", function, status) : said;
  constexpr std::string_view kMark = "try: ";
  std::vector<std::string> notes;
  std::string remedy;
  const std::size_t end = message.find('\n');
  if (end != std::string::npos) {
    for (std::size_t at = end + 1; at < message.size();) {
      const std::size_t next = std::min(message.find('\n', at), message.size());
      std::string line = message.substr(at, next - at);
      line.erase(0, line.find_first_not_of(' '));
      if (line.starts_with(kMark)) {
        remedy = line.substr(kMark.size(), line.rfind("  [BATON-E") - kMark.size());
      } else if (!line.empty()) {
        notes.push_back(std::move(line));
      }
      at = next + 1;
    }
    message.resize(end);
  }
  notes.push_back(fmt::format("said {} of {}", function, path()));
  throw Error(error_info(static_cast<Code>(status)).code, std::move(message), std::move(notes), remedy);
}

}  // namespace baton::platform
