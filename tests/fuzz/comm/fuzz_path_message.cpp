// Messages of other hosts: refused, or done inside of the window that they name.
#include <algorithm>
#include <cstring>
#include <vector>

#include <sys/mman.h>

#include "comm/control_setup.hpp"
#include "comm/delivery.hpp"
#include "fuzz_target.hpp"

namespace {

using namespace baton;

constexpr std::uint64_t kBytes = 4096;
constexpr wire::AllocationKey kWindow{1, 0};
constexpr wire::PathReceiver kReceiver{0, 3, 0x1122334455667788};

struct Target {
  comm::ControlSegment control = comm::make_control(3, "fuzz", {}, comm::Hosting::threads, 1);
  comm::Delivery delivery{control.header(), 0, FutexScope::process};
  std::byte* part = nullptr;

  Target() {
    // A page that may be touched between two that may not.
    auto* room = static_cast<std::byte*>(
        ::mmap(nullptr, 3 * kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    part = room + kBytes;
    FUZZ_REQUIRE(::mprotect(part, kBytes, PROT_READ | PROT_WRITE) == 0);
    delivery.expose(kWindow, {std::make_shared<comm::SharedMemory>(room, 3 * kBytes), part, kBytes, 5, {}});
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Target target;
  const std::size_t header_bytes = std::min(size, sizeof(wire::PathHeader));
  std::vector<std::byte> header(header_bytes);
  if (header_bytes != 0) std::memcpy(header.data(), data, header_bytes);
  if (wire::path_defect(header.data(), header.size(), size - header_bytes, kReceiver) != nullptr) return 0;
  wire::PathHeader message{};
  std::memcpy(&message, header.data(), sizeof message);
  FUZZ_REQUIRE(message.source < 3 && message.source != 0 && message.bytes == size - header_bytes);
  const auto place = target.delivery.find(message.window, message.offset, message.bytes);
  if (place.address != nullptr) {
    FUZZ_REQUIRE(place.address >= target.part && place.address + message.bytes <= target.part + kBytes);
    if (message.bytes != 0) std::memcpy(place.address, data + header_bytes, message.bytes);
  }
  static_cast<void>(target.delivery.change_signal(message));
  return 0;
}
