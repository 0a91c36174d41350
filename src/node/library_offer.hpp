// A library of the node's host, as it is described to a chip of another one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/content_hash.hpp"
#include "node/message.hpp"

namespace baton::node {

struct LibraryOffer {
  std::uint64_t buffer = 0;  // from which its bytes are fetched
  std::uint64_t bytes = 0;
  kernel::ContentHash hash{};
};

/// Under which path the node knows it.
struct OfferedLibrary {
  std::string path;
  LibraryOffer offer;
};

inline void put_offers(MessageWriter& writer, const std::vector<OfferedLibrary>& libraries) {
  writer.put(static_cast<std::uint32_t>(libraries.size()));
  for (const OfferedLibrary& library : libraries) {
    writer.put_text(library.path);
    writer.put(library.offer);
  }
}

[[nodiscard]] inline std::vector<OfferedLibrary> get_offers(MessageReader& reader) {
  std::vector<OfferedLibrary> libraries;
  for (auto left = reader.get<std::uint32_t>(); left > 0; --left) {
    std::string path = reader.get_text();
    if (path.empty()) break;  // cut off
    libraries.push_back({std::move(path), reader.get<LibraryOffer>()});
  }
  return libraries;
}

}  // namespace baton::node
