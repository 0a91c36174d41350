// Libraries that chips of other hosts may ask for: those that the program uses, as they were when it first did.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "kernel/file_stamp.hpp"
#include "node/buffer_table.hpp"
#include "node/library_offer.hpp"

namespace baton::node {

/// Of one node. Nothing else of this host can be asked for.
class LibraryShelf {
 public:
  /// They are put among `buffers`, under numbers that no buffer has.
  explicit LibraryShelf(std::shared_ptr<BufferTable> buffers) noexcept : buffers_(std::move(buffers)) {}

  /// Nothing if it cannot be read here: then each host uses what it has.
  [[nodiscard]] std::optional<LibraryOffer> offer(const std::string& path);

 private:
  struct Shelved {
    kernel::FileStamp stamp;
    LibraryOffer offer;
  };
  std::shared_ptr<BufferTable> buffers_;
  std::map<std::string, Shelved> shelved_;
  std::uint64_t last_ = 0;
};

}  // namespace baton::node
