// Where the dumps of a chip go, and the kernel that writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

struct ChipTensor;

namespace baton::chip {

/// The folder of a chip's dumps and the names of the files in it: rank, chip of this process, run, dump of the run.
class Dumps {
 public:
  /// Nothing is written without a folder. Makes the folder; throws Error (system).
  Dumps(std::optional<std::string> folder, std::uint32_t rank);

  [[nodiscard]] bool wanted() const noexcept { return folder_.has_value(); }
  /// A run of the chip begins. Tasks that it submits see this.
  void begin_run() noexcept { ++run_; }

  /// The name in the form that files have, for as long as this lives.
  [[nodiscard]] const std::string& keep_name(std::string_view name);

  /// `elements` is the first one. Throws Error (system, no_space).
  void write(const ChipTensor& tensor, const std::byte* elements, const std::string& name, std::uint64_t number) const;

 private:
  std::optional<std::string> folder_;
  std::uint32_t rank_;
  std::uint64_t chip_ = 0;  // of those of this process that dump
  std::uint64_t run_ = 0;
  std::set<std::string, std::less<>> names_;
};

/// A kernel for a simulated vector core: a tensor, then Dumps*, const std::string* and the number of the dump.
void dump_kernel(std::int64_t* args);

}  // namespace baton::chip
