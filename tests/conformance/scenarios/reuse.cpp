// Allocation and release, over and over: nothing grows.
#include <malloc.h>

#include <vector>

#include "support/process_memory.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario.hpp"

namespace {

using namespace baton;

// Freed memory waits in a sanitizer's quarantine, so only plain builds can tell.
#if defined(BATON_SANITIZE_ADDRESS) || defined(BATON_SANITIZE_THREAD)
constexpr bool kMemoryTells = false;
#else
constexpr bool kMemoryTells = true;
#endif

/// What this process uses may not grow between two looks at it.
class Growth {
 public:
  Growth() : memory_(test::process_memory()), descriptors_(test::open_descriptors()) {}

  void require_none() const {
    const test::ProcessMemory now = test::process_memory();
    const int descriptors = test::open_descriptors();
    // Descriptors of a peer's thread may come and go by one.
    if (descriptors > descriptors_ + 4) {
      throw test::CheckFailed(fmt::format("{} descriptors became {}", descriptors_, descriptors));
    }
    if (!kMemoryTells) return;
    constexpr std::uint64_t kSlack = 2 * 1024 * 1024;
    if (now.resident_bytes > memory_.resident_bytes + kSlack) {
      throw test::CheckFailed(fmt::format("{} resident bytes became {}", memory_.resident_bytes, now.resident_bytes));
    }
    if (now.virtual_bytes > memory_.virtual_bytes + kSlack) {
      throw test::CheckFailed(
          fmt::format("{} bytes of address space became {}", memory_.virtual_bytes, now.virtual_bytes));
    }
  }

 private:
  test::ProcessMemory memory_;
  int descriptors_;
};

/// Runs `round` until everything has been used once, then `count` times more, which must cost nothing.
template <class Round>
void require_constant(Domain me, int count, Round&& round) {
  // Else a thread of the rank that allocates for the first time may take 64 MiB of address space for that, whenever it
  // comes to it. Sanitizers have an allocator of their own, and two threads must not be the first to ask the system's.
  if (kMemoryTells) ::mallopt(M_ARENA_MAX, 1);
  for (int i = 0; i < 50; ++i) round(i);
  me.barrier();
  const Growth growth;
  for (int i = 0; i < count; ++i) round(i);
  me.barrier();
  growth.require_none();
  me.barrier();
}

}  // namespace

SCENARIO(WindowsComeAndGoWithoutTrace, {.sizes = {2, 4}}) {
  require_constant(me, test::scaled(300), [&](int i) {
    RawWindow window = me.raw_window("w", 65'536);
    window.put((me.rank() + 1) % me.size(), 100, &i, sizeof i);
    if (i % 2 == 0) window.release();
  });
}

SCENARIO(SubsetsComeAndGoWithoutTrace, {.sizes = {3}}) {
  const std::vector<int> all = {2, 0, 1};
  require_constant(me, test::scaled(300), [&](int) {
    Domain domain = me.subset("again", all);
    const Signals signals = domain.signals("s", 1);
    signals.notify((domain.rank() + 1) % 3, 0);
    signals.wait(0, WaitCmp::eq, 1);
  });
}

SCENARIO(ErrorsLeaveNoTrace, {.sizes = {2}}) {
  require_constant(me, test::scaled(300), [&](int) {
    const std::size_t bytes = me.rank() == 0 ? 64 : 128;
    test::require_error(Code::mismatch, {}, [&] { static_cast<void>(me.raw_window("w", bytes)); });
    test::require_error(Code::out_of_memory, {}, [&] { static_cast<void>(me.raw_window("w", std::size_t{1} << 42U)); });
  });
}
