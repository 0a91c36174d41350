// Lists of devices as people write them: 0, 0-3, 0,2-4.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <baton/export.hpp>

namespace baton {

/// The devices of `text`, in the order written. Throws Error (bad_device_list) that shows the spot:
/// junk, negative numbers, reversed ranges and devices named twice.
[[nodiscard]] BATON_API std::vector<int> parse_device_list(std::string_view text);

/// The shortest text that parse_device_list() reads back as `devices`.
[[nodiscard]] BATON_API std::string format_device_list(const std::vector<int>& devices);

}  // namespace baton
