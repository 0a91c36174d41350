// An allocator for small objects that come and go by the hundred thousand: each thread keeps those that went.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace baton::check {

/// One object at a time is taken from those that were given back; several, as an array, come from the heap.
template <class T>
class Recycling {
 public:
  using value_type = T;

  Recycling() = default;
  template <class U>
  // As all allocators are converted.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Recycling(const Recycling<U>& /*other*/) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count != 1) return static_cast<T*>(::operator new(count * sizeof(T), kAlignment));
    if (first_free == nullptr) return make();
    return reinterpret_cast<T*>(std::exchange(first_free, first_free->next));
  }
  void deallocate(T* object, std::size_t count) noexcept {
    if (count != 1) return ::operator delete(static_cast<void*>(object), kAlignment);
    first_free = new (static_cast<void*>(object)) Free{first_free};
  }

  friend bool operator==(const Recycling& /*a*/, const Recycling& /*b*/) noexcept { return true; }

 private:
  struct Free {
    Free* next;
  };
  /// When its thread ends.
  struct Cleaner {
    ~Cleaner() {
      while (first_free != nullptr) {
        ::operator delete(static_cast<void*>(std::exchange(first_free, first_free->next)), kAlignment);
      }
    }
  };
  [[nodiscard]] static T* make() {
    thread_local const Cleaner cleaner;
    return static_cast<T*>(::operator new(kBytes, kAlignment));
  }

  static constexpr std::size_t kBytes = sizeof(T) < sizeof(Free) ? sizeof(Free) : sizeof(T);
  static constexpr std::align_val_t kAlignment{alignof(T) < alignof(Free) ? alignof(Free) : alignof(T)};
  /// Of this thread.
  static inline constinit thread_local Free* first_free = nullptr;
};

}  // namespace baton::check
