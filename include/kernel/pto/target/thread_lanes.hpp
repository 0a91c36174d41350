// on_lanes() of a test on a host: a thread for each lane, so that the thread sanitizer sees two that touch the same
// byte.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/target/lane.hpp>
#include <thread>
#include <type_traits>

#if defined(PTO_LANES)
namespace baton::kernel {

template <LanesWrite = LanesWrite::tiles, typename Body>
void on_lanes(Body body) {
  static_assert(PTO_LANES > 1 && sizeof(Body) <= kClosureBytes && std::is_trivially_copyable_v<Body>,
                "what lanes need is copied to them");
  std::thread others[PTO_LANES - 1];
  for (uint32_t lane = 1; lane < PTO_LANES; ++lane) {
    others[lane - 1] = std::thread([body, lane] { body(Lanes{lane, PTO_LANES}); });
  }
  body(Lanes{0, PTO_LANES});
  for (std::thread& other : others) other.join();
}

}  // namespace baton::kernel
#endif
