#include "wire/hello.hpp"

#include <cstddef>
#include <cstring>

namespace baton::wire {
namespace {

std::uint64_t tag_of(const Hello& hello, const HashKey& key) noexcept {
  return keyed_hash(key, std::as_bytes(std::span(&hello, 1)).first(offsetof(Hello, tag)));
}

}  // namespace

Hello make_hello(const HashKey& key_of_receiver, std::uint32_t source, std::uint32_t number) noexcept {
  Hello hello{kHelloMagic, kHelloVersion, source, number, 0};
  hello.tag = tag_of(hello, key_of_receiver);
  return hello;
}

const char* Doorkeeper::objection(std::span<const std::byte> said) noexcept {
  Hello hello{};
  if (said.size() < sizeof hello) return "not a rank of Baton";
  std::memcpy(&hello, said.data(), sizeof hello);
  if (hello.magic != kHelloMagic) return "not a rank of Baton";
  if (hello.version != kHelloVersion) return "of another version of Baton";
  // Takes the same time for all tags.
  if ((hello.tag ^ tag_of(hello, key_)) != 0) return "not of the job";
  if (hello.source >= seen_.size() || hello.number >= kMostHellos) return "of an impossible rank";
  const std::uint64_t bit = std::uint64_t{1} << hello.number;
  if ((seen_[hello.source] & bit) != 0) return "repeating what a rank of the job has said";
  seen_[hello.source] |= bit;
  return nullptr;
}

}  // namespace baton::wire
