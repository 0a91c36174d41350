#include "platform/cuda/compare_clocks.hpp"

#include <atomic>
#include <vector>

#include <baton/error.hpp>

namespace baton::cuda {
namespace {

/// An answer takes a few microseconds. The first one waits for the launch.
constexpr std::int64_t kLookNs = 5'000'000;
constexpr std::int64_t kPatienceNs = 1'000'000'000;

}  // namespace

void compare_clocks(GpuClock& clock, ClockWords& words, Function tell_time, Stream stream) {
  const Driver& driver = Driver::get();
  words = {};
  ClockWords* const at = &words;
  void* parameters[] = {const_cast<ClockWords**>(&at)};
  driver.check("asking the GPU for the time",
               driver.launch_together(tell_time, 1, 1, 1, kWarp, 1, 1, 0, stream, parameters));
  std::vector<GpuClock::Reading> readings;
  for (std::uint32_t question = 1; question <= kClockQuestions; ++question) {
    const std::int64_t asked = GpuClock::host_now();
    // Pairs with tell_time().
    std::atomic_ref(at->asked).store(question, std::memory_order_release);
    std::int64_t answered = asked;
    // Pairs with the device's release of the answer.
    while (std::atomic_ref(at->answered).load(std::memory_order_acquire) < question) {
      answered = GpuClock::host_now();
      if (answered - asked <= kLookNs) continue;
      // This thread may have been away for too long.
      const Result result = driver.stream_query(stream);
      if (result == 0 && !readings.empty()) return clock.compare(readings);
      if (result != kNotReady) driver.check("asking the GPU for the time", result);
      if (answered - asked <= kPatienceNs) continue;
      throw Error(Code::wait_timeout, "the GPU does not tell the time: something else fills it");
    }
    answered = GpuClock::host_now();
    readings.push_back({asked, answered, std::atomic_ref(at->gpu_ns).load(std::memory_order_relaxed)});
  }
  driver.check("asking the GPU for the time", driver.stream_wait(stream));
  clock.compare(readings);
}

}  // namespace baton::cuda
