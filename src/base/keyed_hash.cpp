#include "base/keyed_hash.hpp"

#include <sys/random.h>

#include <bit>

#include "base/fail.hpp"

namespace baton {
namespace {

std::uint64_t read_little_endian(std::span<const std::byte> bytes) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) word |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return word;
}

/// The four words that SipHash mixes.
struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void round() noexcept {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  }

  void take(std::uint64_t word) noexcept {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

}  // namespace

HashKey make_hash_key() {
  HashKey key{};
  if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) fail_system("getrandom");
  return key;
}

std::uint64_t keyed_hash(const HashKey& key, std::span<const std::byte> bytes) noexcept {
  const auto key_bytes = std::as_bytes(std::span(key));
  const std::uint64_t k0 = read_little_endian(key_bytes.first(8));
  const std::uint64_t k1 = read_little_endian(key_bytes.last(8));
  SipState state{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573};
  const std::uint64_t length = bytes.size();
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) state.take(read_little_endian(bytes.first(8)));
  state.take(read_little_endian(bytes) | length << 56);
  state.v2 ^= 0xff;
  for (int round = 0; round < 4; ++round) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace baton
