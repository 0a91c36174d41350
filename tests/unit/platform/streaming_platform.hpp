// What streaming_platform.cpp and its test agree on.
#pragma once

#include <cstdint>

/// A task with this scalar fails, and those after it do not run.
inline constexpr std::int64_t kFailLater = 4711;

/// Which cores it says that the blocks of a task ran on.
inline constexpr std::uint32_t kFirstCore = 2;
inline constexpr std::uint32_t kLaterCore = 4;
