// What streaming_platform.cpp and its test agree on.
#pragma once

#include <cstdint>

/// A task with this scalar fails, and those after it do not run.
inline constexpr std::int64_t kFailLater = 4711;
