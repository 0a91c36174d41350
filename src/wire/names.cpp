#include "wire/names.hpp"

#include <algorithm>
#include <cstring>

namespace baton::wire {

void store_name(SharedName& to, std::string_view name) noexcept {
  char bytes[kNameBytes] = {};
  std::memcpy(bytes, name.data(), std::min(name.size(), kNameBytes));
  for (std::size_t i = 0; i < kNameBytes / 8; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + 8 * i, 8);
    // Pairs with the acquire in load_name(), for records that keep a version beside the name.
    to.words[i].store(word, std::memory_order_release);
  }
}

std::string load_name(const SharedName& from) {
  char bytes[kNameBytes];
  for (std::size_t i = 0; i < kNameBytes / 8; ++i) {
    const std::uint64_t word = from.words[i].load(std::memory_order_acquire);
    std::memcpy(bytes + 8 * i, &word, 8);
  }
  std::string name(bytes, std::find(bytes, bytes + kNameBytes, '\0'));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return name;
}

}  // namespace baton::wire
