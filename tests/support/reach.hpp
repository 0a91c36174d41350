// Words of other ranks, wherever they are: by a pointer on this host, else by put and get.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include <baton/window.hpp>

namespace baton::test {

template <class T>
[[nodiscard]] T load_from(const Window<T>& window, int rank, std::size_t index) {
  if (window.is_mapped(rank)) return std::atomic_ref(window.peer(rank)[index]).load(std::memory_order_relaxed);
  T value{};
  window.get(rank, index, std::span(&value, 1));
  return value;
}

template <class T>
void store_to(const Window<T>& window, int rank, std::size_t index, T value) {
  if (window.is_mapped(rank)) {
    std::atomic_ref(window.peer(rank)[index]).store(value, std::memory_order_relaxed);
  } else {
    window.put(rank, index, value);
  }
}

/// All of a rank's part. Plain stores where there is a pointer.
template <class T>
void fill_part(const Window<T>& window, int rank, T value) {
  if (window.is_mapped(rank)) {
    for (T& element : window.peer(rank)) element = value;
  } else {
    window.put(rank, 0, std::vector<T>(window.size(), value));
  }
}

}  // namespace baton::test
