// The members that open a window together, for libraries of platforms.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include <baton/platform.h>
#include <baton/error.hpp>

namespace baton::platforms {

class Group {
 public:
  explicit Group(const BatonGroup& group) noexcept : group_(group) {}

  [[nodiscard]] std::uint32_t rank() const noexcept { return group_.rank; }
  [[nodiscard]] std::uint32_t size() const noexcept { return group_.size; }
  /// Of a rank.
  [[nodiscard]] int host(std::size_t rank) const noexcept { return group_.hosts == nullptr ? 0 : group_.hosts[rank]; }
  [[nodiscard]] bool spans_hosts() const noexcept {
    for (std::size_t rank = 1; rank < group_.size; ++rank) {
      if (host(rank) != host(0)) return true;
    }
    return false;
  }

  /// What each member's `make` returned, by rank. Collective. Throws what it threw here, or that it did elsewhere.
  template <class Make>
  [[nodiscard]] auto tell(Make&& make) const {
    using Record = std::invoke_result_t<Make>;
    static_assert(std::is_trivially_copyable_v<Record>, "other processes read these bytes as they are");
    std::vector<Record> all(group_.size);
    Record mine{};
    try {
      mine = make();
    } catch (const Error& error) {
      group_.exchange(group_.context, static_cast<int>(error.code()), error.message().c_str(), &mine, sizeof mine,
                      all.data());
      throw;
    }
    const int status = group_.exchange(group_.context, 0, nullptr, &mine, sizeof mine, all.data());
    if (status != 0) throw Error(static_cast<Code>(status), "another member of the window failed");
    return all;
  }

  /// Returns when `work` has ended well at all members. Collective; throws as tell().
  template <class Work>
  void meet(Work&& work) const {
    static_cast<void>(tell([&] {
      work();
      return std::uint8_t{1};
    }));
  }

 private:
  const BatonGroup& group_;
};

}  // namespace baton::platforms
