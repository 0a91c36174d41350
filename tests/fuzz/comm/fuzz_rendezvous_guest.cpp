// A guest whose host says anything: it joins with a control segment that is one, or fails with a reason.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include <baton/error.hpp>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "comm/backends/shm/rendezvous.hpp"
#include "comm/backends/shm/rendezvous_socket.hpp"
#include "comm/memfd.hpp"
#include "fuzz_input.hpp"
#include "fuzz_target.hpp"

namespace {

using namespace baton;
using namespace std::chrono_literals;
using wire::RendezvousKind;

/// What a host may attach: the right thing, and things that look like it.
struct Attachables {
  comm::ControlSegment good = comm::make_control(2, "fuzz", comm::make_token(), comm::Hosting::processes, 1);
  comm::ControlSegment larger = comm::make_control(3, "fuzz", comm::make_token(), comm::Hosting::processes, 1);
  UniqueFd blank = comm::create_memfd("fuzz", wire::control_bytes(2, 2));
  UniqueFd unsealed{::memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING)};

  [[nodiscard]] int choose(std::uint8_t which) const {
    const int all[4] = {good.fd.get(), larger.fd.get(), blank.get(), unsealed.get()};
    return all[which % 4];
  }
};

/// A host that refuses may have failed in the system itself.
bool tells_of_the_system(const std::vector<std::uint8_t>& bytes) {
  wire::RendezvousMessage message{};
  if (bytes.size() != sizeof message) return false;
  std::memcpy(&message, bytes.data(), sizeof message);
  return message.code == static_cast<std::uint32_t>(Code::system);
}

/// Returns tells_of_the_system() of what it has said.
bool say(int connection, fuzz::Input& input, const Attachables& attachables) {
  const std::uint8_t how = input.byte();
  const int descriptor = attachables.choose(static_cast<std::uint8_t>(how >> 6U));
  const std::size_t copies = (how & 0x10U) != 0 ? 1 + input.byte() % 200U : 0;
  std::vector<std::uint8_t> bytes;
  switch (how % 4) {
    case 0: bytes = fuzz::bytes_of(shm::make_message(RendezvousKind::welcome, 0, 2)); break;
    case 1: bytes = fuzz::bytes_of(shm::make_message(RendezvousKind::go, 0, 2)); break;
    case 2: bytes = input.bytes(input.byte() * 3U); break;
    default: {
      wire::RendezvousMessage message = shm::make_message(RendezvousKind::refused, 0, 2);
      input.overwrite(message);
      bytes = fuzz::bytes_of(message);
    }
  }
  if (bytes.empty()) bytes.push_back(0);
  fuzz::send_with_descriptors(connection, bytes, descriptor, copies);
  return tells_of_the_system(bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  log::set_threshold(LogLevel::off);
  static const Attachables attachables;
  static const std::ptrdiff_t descriptors = fuzz::open_descriptors();
  {
    int ends[2];
    FUZZ_REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    const UniqueFd host(ends[0]);
    const UniqueFd guest(ends[1]);
    fuzz::Input input(data, size);
    bool system_was_told = false;
    for (int messages = 0; messages < 8 && !input.empty(); ++messages)
      system_was_told = say(host.get(), input, attachables) || system_was_told;
    // The last word is nonsense, so that the guest never waits for more.
    for (int i = 0; i < 2; ++i) fuzz::send_with_descriptors(host.get(), std::vector<std::uint8_t>{'.'}, -1, 0);
    try {
      const shm::Membership membership = shm::visit_host({"fuzz", 1, 2, 10s}, guest, Deadline::after(10s));
      FUZZ_REQUIRE(membership.mailroom != nullptr);
      FUZZ_REQUIRE(membership.control.header().rank_count == 2);
    } catch (const Error& error) {
      FUZZ_REQUIRE(error.code() != Code::ok && (error.code() != Code::system || system_was_told));
      FUZZ_REQUIRE(error.message().find_first_of("\n\x1b") == std::string::npos);
    }
  }
  FUZZ_REQUIRE(fuzz::open_descriptors() <= descriptors);
  return 0;
}
