#include "kernel_test_support.hpp"

#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <thread>

#include <fmt/format.h>

#include "kernel/file_stamp.hpp"
#include "kernel/library.hpp"

namespace baton::kernel {

std::string kernel_that_writes(int value) {
  return fmt::format("extern \"C\" void kernel_entry(int64_t* args) {{ args[0] = {}; }}\n", value);
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

KernelTest::KernelTest() {
  std::string pattern = testing::TempDir() + "/kernel-XXXXXX";
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  folder_ = std::filesystem::canonical(pattern);
  options_.cache_dir = path("cache");
}

KernelTest::~KernelTest() { std::filesystem::remove_all(folder_); }

std::string KernelTest::write(const std::string& name, std::string_view text) const {
  const std::string file = path(name);
  std::ofstream(file, std::ios::binary) << text;
  while (stamp_of(file)->changed_ns >= file_clock_ns()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return file;
}

void KernelTest::use_script_as_compiler(const std::string& before) {
  const std::string script = write("script", fmt::format("#!/bin/sh\n"
                                                         "case \"$*\" in *--version) exec c++ --version;; esac\n"
                                                         "echo compiled >> {}\n{}\nexec c++ \"$@\"\n",
                                                         path("count"), before));
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  options_.compiler = script;
}

int KernelTest::compilations() const {
  const std::string lines = read(path("count"));
  return static_cast<int>(std::ranges::count(lines, '\n'));
}

std::int64_t KernelTest::result_of(const std::string& library, std::string_view entry) {
  std::int64_t args[1] = {-1};
  load(library).entry(entry)(args);
  return args[0];
}

}  // namespace baton::kernel
