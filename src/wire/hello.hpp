// The first bytes of every connection that UCX makes: without the key of the rank that it connects to it is closed
// before UCX sees anything of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/keyed_hash.hpp"

namespace baton::wire {

inline constexpr std::uint32_t kHelloMagic = 0x4f4c4548;  // "HELO" in memory
inline constexpr std::uint32_t kHelloVersion = 1;
/// How often a rank may connect to another one.
inline constexpr std::uint32_t kMostHellos = 64;

struct Hello {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint32_t source;  // rank of the job
  std::uint32_t number;  // 0, 1, ... from this source to this receiver
  std::uint64_t tag;     // of what is before it, with the key of the receiver
};
static_assert(sizeof(Hello) == 24);

[[nodiscard]] Hello make_hello(const HashKey& key_of_receiver, std::uint32_t source, std::uint32_t number) noexcept;

/// Takes each hello once.
class Doorkeeper {
 public:
  Doorkeeper(const HashKey& key, std::uint32_t rank_count) : key_(key), seen_(rank_count) {}

  [[nodiscard]] const HashKey& key() const noexcept { return key_; }
  /// Why the one who said this may not come in; nullptr if it may.
  [[nodiscard]] const char* objection(std::span<const std::byte> said) noexcept;

 private:
  HashKey key_;
  std::vector<std::uint64_t> seen_;  // by source, a bit for each number
};

}  // namespace baton::wire
