// Libraries that the node has and the host of a chip may lack: they are fetched once for each host, into its cache of
// kernels, where they are found by their content.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include <baton/options.hpp>

#include "node/library_offer.hpp"

namespace baton::node {

/// Of one chip, on its thread.
class SentLibraries {
 public:
  /// Fetches all bytes of a buffer of the node. Throws Error.
  using Fetch = std::function<void(std::uint64_t buffer, std::span<std::byte> to)>;

  /// `fetch`: none for a chip that has the files of the node.
  explicit SentLibraries(Fetch fetch, const Options& options = baton::options())
      : options_(options), fetch_(std::move(fetch)) {}

  void note(const OfferedLibrary& library) { offers_.insert_or_assign(library.path, library.offer); }

  /// Where this host has the library that the node has at `path`: there, if it is the same, else in the cache. Throws
  /// Error that names it: no_space if the cache does not take it, protocol if other bytes came than were offered,
  /// and what fetching throws.
  [[nodiscard]] std::string place_of(const std::string& path);

 private:
  [[nodiscard]] std::string fetch(const std::string& path, const LibraryOffer& offer);

  const Options& options_;
  Fetch fetch_;
  std::map<std::string, LibraryOffer> offers_;
};

}  // namespace baton::node
