// What a first scalar asks of sharing_platform.
#pragma once

#include <cstdint>

inline constexpr std::int64_t kFail = 4711;
inline constexpr std::int64_t kWaitForLoss = 4712;
