// The flags between pipes, as far as they can be wrong by themselves: awaited without being set, set twice, left set.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <pto/target/core.hpp>

namespace baton::chip {

class PipeFlags {
 public:
  /// Each returns what is wrong, or nothing.
  [[nodiscard]] std::optional<std::string> set(std::uint32_t producer, std::uint32_t consumer, std::int32_t id,
                                               const BatonPlace& place);
  [[nodiscard]] std::optional<std::string> wait(std::uint32_t producer, std::uint32_t consumer, std::int32_t id);

  /// When the kernel returned: a flag that is still set, with the place where that happened.
  [[nodiscard]] std::optional<std::pair<std::string, BatonPlace>> left_set() const;
  [[nodiscard]] bool empty() const noexcept { return set_.empty(); }
  void clear() noexcept { set_.clear(); }

 private:
  using Flag = std::tuple<std::uint32_t, std::uint32_t, std::int32_t>;
  struct SetFlag {
    Flag flag;
    BatonPlace place;
  };
  [[nodiscard]] std::vector<SetFlag>::iterator find(const Flag& flag);

  /// Few at a time.
  std::vector<SetFlag> set_;
};

/// "PIPE_MTE2", as in pipe_t.
[[nodiscard]] std::string pipe_name(std::uint32_t pipe);

}  // namespace baton::chip
