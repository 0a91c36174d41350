// The template of a platform, whose memory only copies reach, with windows: devices are ranks of one process.
#define baton_device_describe template_describe
#include "../../../examples/platform_template/platform_template.cpp"
#undef baton_device_describe

#include <atomic>

namespace {

struct Part {
  explicit Part(size_t bytes) : memory(bytes) {}
  std::vector<unsigned char> memory;
  std::atomic<int> users{0};  // other members that reach it
};

std::atomic<int> failing_rank{-1};
std::atomic<int> violations{0};
std::atomic<int> open_windows{0};

}  // namespace

struct BatonDeviceWindow {
  Part* own = nullptr;
  std::vector<Part*> others;
};

extern "C" {

BATON_PLATFORM_EXPORT int baton_device_describe(BatonDevice* /*device*/, BatonDeviceDescription* out) {
  *out = {.clusters = 1, .memory = BATON_MEMORY_DEVICE, .features = 0};
  return 0;
}

/// What the test asks and wants to know.
BATON_PLATFORM_EXPORT void windows_fail_at(int rank) { failing_rank = rank; }
BATON_PLATFORM_EXPORT int windows_violations() { return violations; }
BATON_PLATFORM_EXPORT int windows_open() { return open_windows; }

BATON_PLATFORM_EXPORT int baton_window_open(BatonDevice* /*device*/, const BatonGroup* group, size_t bytes,
                                            uint64_t* parts, BatonDeviceWindow** window_out) {
  auto own = std::make_unique<Part>(bytes);
  own->users = static_cast<int>(group->size) - 1;
  std::vector<Part*> all(group->size);
  Part* const mine = own.get();
  const bool fails = failing_rank == static_cast<int>(group->rank);
  const int status = group->exchange(group->context, fails ? out_of_memory : 0, fails ? "the device is full" : nullptr,
                                     static_cast<const void*>(&mine), sizeof mine, static_cast<void*>(all.data()));
  if (fails) return fail(out_of_memory, "the device is full");
  if (status != 0) return fail(static_cast<Status>(status), "the exchange failed");
  auto window = std::make_unique<BatonDeviceWindow>();
  for (uint32_t rank = 0; rank < group->size; ++rank) {
    parts[rank] = reinterpret_cast<uint64_t>(all[rank]->memory.data());
    if (rank != group->rank) window->others.push_back(all[rank]);
  }
  window->own = own.release();
  *window_out = window.release();
  ++open_windows;
  return 0;
}

BATON_PLATFORM_EXPORT int baton_window_leave(BatonDeviceWindow* window) {
  for (Part* part : window->others) --part->users;
  window->others.clear();
  return 0;
}

BATON_PLATFORM_EXPORT int baton_window_close(BatonDeviceWindow* window) {
  if (!window->others.empty() || window->own->users != 0) ++violations;
  // One that a dead member still reaches stays.
  if (window->own->users == 0) delete window->own;
  delete window;
  --open_windows;
  return 0;
}

}  // extern "C"
