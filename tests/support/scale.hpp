// How much work a stress test does.
#pragma once

#include <chrono>

namespace baton::test {

/// `count` in a plain build; less under sanitizers, which slow everything down; more or less as the environment
/// variable TEST_SCALE (a factor) says. At least 1.
[[nodiscard]] int scaled(int count);

/// That factor; 1 without it.
[[nodiscard]] double scale_factor();

/// The deadline of a whole test run in seconds, for machines that are busy with other things.
[[nodiscard]] int patience_seconds();

/// How much later than promised something may happen because others use the processors, too: most of a second on a
/// quiet machine, more where more wait for a turn or a sanitizer slows everything down.
[[nodiscard]] std::chrono::nanoseconds room_for_noise();

}  // namespace baton::test
