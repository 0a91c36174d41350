// Folders for what is not finished yet.
#pragma once

#include <string>

#include "base/unique_fd.hpp"

namespace baton::kernel {

/// A new folder that is removed at the end. It is locked for as long as it is used; one that its owner, being killed,
/// could not remove is free, and the next to clean up takes it.
class WorkFolder {
 public:
  /// Makes it inside `parent`.
  explicit WorkFolder(const std::string& parent);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  UniqueFd lock_;
};

/// Removes the folders in `parent` that nobody uses. Returns how many.
int remove_abandoned_folders(const std::string& parent);

}  // namespace baton::kernel
