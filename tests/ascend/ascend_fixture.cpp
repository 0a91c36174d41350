#include "ascend_fixture.hpp"

#include <cstdlib>

namespace baton::test {
namespace {

/// Before anybody asks for the options of this process: the compiler's stand-in comes first on the PATH.
const int kEnvironment = [] {
  const char* path = std::getenv("PATH");
  ::setenv("PATH", (std::string(ASCEND_TEST_BIN) + ":" + (path == nullptr ? "" : path)).c_str(), 1);
  ::setenv("STANDIN_INCLUDE", ASCEND_TEST_INCLUDE, 1);
  ::setenv("BATON_WAIT_TIMEOUT", "3s", 1);
  ::setenv("BATON_CACHE_DIR", ASCEND_TEST_CACHE, 1);
  return 0;
}();

const KernelFile& file_of(const std::string& platform, BatonCoreType core) {
  static std::map<std::pair<std::string, BatonCoreType>, KernelFile> files;
  const auto key = std::make_pair(platform, core);
  auto found = files.find(key);
  if (found == files.end()) {
    found = files.emplace(key, KernelFile::compile({.source = ASCEND_TEST_KERNELS, .core = core, .platform = platform}))
                .first;
  }
  return found->second;
}

}  // namespace

std::string ascend_platform(const std::string& name) {
  const char* const folder = std::getenv("ASCEND_TEST_FOLDER");
  return std::string(folder == nullptr ? ASCEND_TEST_PLATFORMS : folder) + "/libbaton_" + name + ".so";
}

const Kernel& ascend_kernel(const std::string& platform, BatonCoreType core, const std::string& name) {
  static std::map<std::tuple<std::string, BatonCoreType, std::string>, LoadedKernel> loaded;
  const auto key = std::make_tuple(platform, core, name);
  auto found = loaded.find(key);
  if (found == loaded.end()) found = loaded.emplace(key, file_of(platform, core).kernel(name)).first;
  return found->second.get();
}

const std::string& ascend_library(const std::string& platform, BatonCoreType core) {
  return file_of(platform, core).path();
}

Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(Code::internal, "");
}

}  // namespace baton::test
