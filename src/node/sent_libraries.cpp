#include "node/sent_libraries.hpp"

#include "base/deadline.hpp"
#include "base/fail.hpp"
#include "base/log.hpp"
#include "kernel/cache.hpp"
#include "kernel/file_stamp.hpp"
#include "kernel/key_lock.hpp"

namespace baton::node {

std::string SentLibraries::place_of(const std::string& path) {
  const auto offered = offers_.find(path);
  if (offered == offers_.end() || !fetch_) return path;
  const LibraryOffer& offer = offered->second;
  const auto stamp = kernel::stamp_of(path);
  if (stamp && stamp->size == offer.bytes) {
    if (const auto here = kernel::hash_file(path); here && here->hash == offer.hash) return path;
  }
  return fetch(path, offer);
}

std::string SentLibraries::fetch(const std::string& path, const LibraryOffer& offer) {
  const kernel::Cache cache(options_);
  if (offer.bytes > cache.limit_bytes()) {
    fail(Code::no_space,
         "{}, which this host lacks, has {} bytes, and the cache of kernels here takes {} (BATON_CACHE_SIZE)", path,
         offer.bytes, cache.limit_bytes());
  }
  // Chips of one host need the same: one of them fetches it. If that takes too long the others do, too.
  const auto lock = kernel::KeyLock::wait(cache.lock_file(), offer.hash, Deadline::within(options_.wait_timeout));
  if (auto place = cache.find_content(offer.hash, offer.bytes)) return *std::move(place);
  log::info("fetching {}, {} bytes, from the host of the node", path, offer.bytes);
  std::string content(offer.bytes, '\0');
  fetch_(offer.buffer, std::as_writable_bytes(std::span(content)));
  if (const auto hash = kernel::hash_of(content); hash != offer.hash) {
    fail(Code::protocol, "{}, which this host lacks, came from the node with the hash {} and not {}", path, hash.hex(),
         offer.hash.hex());
  }
  return cache.keep_content(offer.hash, content);
}

}  // namespace baton::node
