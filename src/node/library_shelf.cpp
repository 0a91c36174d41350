#include "node/library_shelf.hpp"

#include <cstring>

#include "base/text_file.hpp"
#include "comm/memfd.hpp"
#include "node/task_message.hpp"

namespace baton::node {

std::optional<LibraryOffer> LibraryShelf::offer(const std::string& path) {
  const auto stamp = kernel::stamp_of(path);
  if (!stamp) return std::nullopt;
  if (const auto found = shelved_.find(path); found != shelved_.end() && found->second.stamp == *stamp) {
    return found->second.offer;
  }
  const auto content = read_text_file(path);
  if (!content || content->empty()) return std::nullopt;
  const LibraryOffer offer{
      .buffer = kLibraryBuffer | ++last_, .bytes = content->size(), .hash = kernel::hash_of(*content)};
  auto memory = comm::map_memfd(comm::create_memfd("baton-library", offer.bytes), offer.bytes);
  auto* const address = static_cast<std::byte*>(memory->address());
  std::memcpy(address, content->data(), content->size());
  buffers_->insert(offer.buffer, {address, offer.bytes, path, std::move(memory)});
  shelved_.insert_or_assign(path, Shelved{*stamp, offer});
  return offer;
}

}  // namespace baton::node
