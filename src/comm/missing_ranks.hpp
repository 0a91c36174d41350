// The report of a rendezvous that did not come together.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace baton::comm {

/// Throws join_timeout: "ranks 3, 5 of 8 did not arrive at "job7" within 30 s".
[[noreturn]] void throw_missing_ranks(std::string_view job, const std::vector<std::uint32_t>& missing,
                                      std::uint32_t size, std::chrono::nanoseconds timeout);

}  // namespace baton::comm
