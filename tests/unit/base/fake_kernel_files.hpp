// A folder that looks like the kernel's files.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/cgroup.hpp"

namespace baton {

class FakeKernelFiles {
 public:
  FakeKernelFiles() {
    std::string pattern = (std::filesystem::temp_directory_path() / "baton-kernel-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    files_.root = pattern;
  }
  ~FakeKernelFiles() { std::filesystem::remove_all(files_.root); }
  FakeKernelFiles(const FakeKernelFiles&) = delete;
  FakeKernelFiles& operator=(const FakeKernelFiles&) = delete;

  void write(const std::string& path, const std::string& content) const {
    const std::filesystem::path whole = files_.root + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << content;
  }
  [[nodiscard]] const KernelFiles& files() const noexcept { return files_; }

 private:
  KernelFiles files_;
};

}  // namespace baton
