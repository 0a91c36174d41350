#include "wire/names.hpp"

#include <algorithm>
#include <cstring>

namespace baton::wire {

template <std::size_t Bytes>
void store_text(SharedText<Bytes>& to, std::string_view text) noexcept {
  char bytes[Bytes] = {};
  std::ranges::copy(text.substr(0, Bytes), bytes);  // memcpy() must not be given the null of an empty text
  for (std::size_t i = 0; i < Bytes / 8; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + 8 * i, 8);
    // Pairs with the acquire in load_text(), for records that keep a version beside the text.
    to.words[i].store(word, std::memory_order_release);
  }
}

template <std::size_t Bytes>
std::string load_text(const SharedText<Bytes>& from) {
  char bytes[Bytes];
  for (std::size_t i = 0; i < Bytes / 8; ++i) {
    const std::uint64_t word = from.words[i].load(std::memory_order_acquire);
    std::memcpy(bytes + 8 * i, &word, 8);
  }
  std::string text(bytes, std::find(bytes, bytes + Bytes, '\0'));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

template void store_text(SharedText<kNameBytes>&, std::string_view) noexcept;
template void store_text(SharedText<kReasonBytes>&, std::string_view) noexcept;
template std::string load_text(const SharedText<kNameBytes>&);
template std::string load_text(const SharedText<kReasonBytes>&);
template void store_text(SharedText<kActorBytes>&, std::string_view) noexcept;
template void store_text(SharedText<kMembersBytes>&, std::string_view) noexcept;
template std::string load_text(const SharedText<kActorBytes>&);
template std::string load_text(const SharedText<kMembersBytes>&);

}  // namespace baton::wire
