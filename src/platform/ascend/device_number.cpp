#include "platform/ascend/device_number.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <baton/error.hpp>

namespace baton::ascend {
namespace {

constexpr const char* kVisible = "ASCEND_RT_VISIBLE_DEVICES";

/// By number in this process; empty: all, in their order.
std::vector<std::int32_t> visible() {
  std::vector<std::int32_t> numbers;
  const char* const list = std::getenv(kVisible);
  std::string_view rest = list == nullptr ? "" : list;
  while (!rest.empty()) {
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc{}) break;  // the runtime stops there, too
    numbers.push_back(number);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (!rest.empty()) rest.remove_prefix(1);
  }
  return numbers;
}

}  // namespace

std::int32_t number_of_driver(std::int32_t id) {
  const std::vector<std::int32_t> numbers = visible();
  const auto index = static_cast<std::size_t>(id);
  return index < numbers.size() ? numbers[index] : id;
}

std::int32_t number_here(std::int32_t number) {
  const std::vector<std::int32_t> numbers = visible();
  if (numbers.empty()) return number;
  const auto found = std::ranges::find(numbers, number);
  if (found == numbers.end()) {
    throw Error(Code::unsupported,
                fmt::format("chip {} of the driver is a peer, but this process does not see it", number),
                {fmt::format("let {} be the same for all members of a window", kVisible)});
  }
  return static_cast<std::int32_t>(found - numbers.begin());
}

}  // namespace baton::ascend
