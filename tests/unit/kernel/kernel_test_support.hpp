// A cache of its own for each test, and a compiler that counts how often it is called.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include <baton/options.hpp>

#include "kernel/compile.hpp"

namespace baton::kernel {

/// A kernel without includes that writes `value` to its first argument.
[[nodiscard]] std::string kernel_that_writes(int value);

[[nodiscard]] std::string read(const std::filesystem::path& path);

class KernelTest : public testing::Test {
 protected:
  KernelTest();
  ~KernelTest() override;

  /// Writes a file into the folder of this test, and returns when its change time is in the past: what changes within
  /// the tick of the file clock in which the compiler starts is not cached.
  std::string write(const std::string& name, std::string_view text) const;
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// A shell script that notes each compilation, runs `before`, and then calls the system's compiler.
  void use_script_as_compiler(const std::string& before = "");
  /// How often the script compiled.
  [[nodiscard]] int compilations() const;

  [[nodiscard]] CompiledKernel compile_file(const std::string& source) const {
    return compile({.source = source, .text = {}, .include_dirs = {}, .defines = {}, .flags = {}}, options_);
  }
  [[nodiscard]] CompiledKernel compile_text(const std::string& name, const std::string& text) const {
    return compile({.source = name, .text = text, .include_dirs = {}, .defines = {}, .flags = {}}, options_);
  }
  /// What the kernel `entry` of the library writes to its first argument.
  [[nodiscard]] static std::int64_t result_of(const std::string& library, std::string_view entry = "kernel_entry");

  std::filesystem::path folder_;
  Options options_;
};

}  // namespace baton::kernel
