#include "support/scale.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/processors.hpp"

namespace baton::test {
namespace {

#if defined(BATON_SANITIZE_THREAD)
constexpr double kSpeed = 0.05;
#elif defined(BATON_SANITIZE_ADDRESS)
constexpr double kSpeed = 0.2;
#else
constexpr double kSpeed = 1;
#endif

}  // namespace

double scale_factor() {
  const char* text = std::getenv("TEST_SCALE");
  return text == nullptr ? 1 : std::max(0.0, std::strtod(text, nullptr));
}

int scaled(int count) { return std::max(1, static_cast<int>(count * kSpeed * scale_factor())); }

int patience_seconds() { return static_cast<int>(60 * std::max(1.0, scale_factor()) / std::max(kSpeed, 0.2)); }

std::chrono::nanoseconds room_for_noise() {
  double load = 0;
  if (::getloadavg(&load, 1) != 1) load = 0;
  const double waiting = std::max(1.0, load / usable_processors());
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::milliseconds(900) * waiting / kSpeed);
}

}  // namespace baton::test
