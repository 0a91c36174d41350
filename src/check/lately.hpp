// What was looked up lately: the same few words and pieces of memory come again and again.
#pragma once

#include <array>
#include <cstddef>

namespace baton::check {

/// Addresses of values by their keys. The owner of the values forgets those that are gone.
template <class Key, class Value>
class Lately {
 public:
  /// The address that is known for the key; null, to be filled, if there is none.
  [[nodiscard]] Value*& at(std::size_t hash, const Key& key) noexcept {
    Entry& entry = entries_[hash % kEntries];
    if (entry.value == nullptr || entry.key != key) entry = {key, nullptr};
    return entry.value;
  }
  void forget_all() noexcept { entries_ = {}; }

 private:
  static constexpr std::size_t kEntries = 64;
  struct Entry {
    Key key{};
    Value* value = nullptr;
  };
  std::array<Entry, kEntries> entries_{};
};

}  // namespace baton::check
