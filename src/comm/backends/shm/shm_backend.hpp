// Ranks as processes of one host that share memory.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "comm/backend.hpp"

namespace baton::shm {

/// Joins the job `name` as `rank` of `size`. `launcher`, if given, is the mail address of a launcher that wants to know
/// the job's control segment.
[[nodiscard]] std::unique_ptr<comm::Backend> rendezvous(const std::string& name, std::uint32_t rank, std::uint32_t size,
                                                        std::chrono::nanoseconds timeout,
                                                        const std::optional<std::string>& launcher);

}  // namespace baton::shm
