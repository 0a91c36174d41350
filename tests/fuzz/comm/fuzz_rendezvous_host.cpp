// A host with a guest that says anything: the job completes with every rank in it, or fails with a reason.
#include <unistd.h>

#include <baton/error.hpp>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "comm/backends/shm/rendezvous.hpp"
#include "comm/backends/shm/rendezvous_socket.hpp"
#include "comm/health.hpp"
#include "comm/memfd.hpp"
#include "fuzz_input.hpp"
#include "fuzz_target.hpp"

namespace {

using namespace baton;
using namespace std::chrono_literals;
using wire::RendezvousKind;

void say(const UniqueFd& connection, fuzz::Input& input, int descriptor) {
  const std::uint8_t how = input.byte();
  const std::size_t copies = (how & 0x10U) != 0 ? input.byte() % 254U : 0;
  std::vector<std::uint8_t> bytes;
  switch (how % 4) {
    case 0: bytes = fuzz::bytes_of(shm::make_message(RendezvousKind::hello, input.byte() % 4U, 2)); break;
    case 1: bytes = fuzz::bytes_of(shm::make_message(RendezvousKind::ready, 1, 2)); break;
    case 2: bytes = input.bytes(input.byte() * 3U); break;
    default: {
      wire::RendezvousMessage message = shm::make_message(RendezvousKind::hello, 1, 2);
      input.overwrite(message);
      bytes = fuzz::bytes_of(message);
    }
  }
  // An empty packet reads as the end of the connection.
  if (bytes.empty()) bytes.push_back(0);
  fuzz::send_with_descriptors(connection.get(), bytes, descriptor, copies);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  log::set_threshold(LogLevel::off);
  static const UniqueFd file = comm::create_memfd("fuzz", 4096);
  static const std::string name = fmt::format("fuzz-host-{}", ::getpid());
  const std::string address = shm::rendezvous_address(name);
  static const std::ptrdiff_t descriptors = fuzz::open_descriptors();
  {
    const shm::RendezvousRequest request{name, 0, 2, 1ms};
    UniqueFd listener = shm::try_listen(address, 8);
    FUZZ_REQUIRE(listener);
    // All is said before the host begins to listen to it; the connections stay open.
    const UniqueFd stranger = shm::try_connect(address, Deadline::after(10s));
    const UniqueFd honest = shm::try_connect(address, Deadline::after(10s));
    FUZZ_REQUIRE(stranger && honest);
    fuzz::Input input(data, size);
    for (int messages = 0; messages < 16 && !input.empty(); ++messages) say(stranger, input, file.get());
    shm::send_message(honest, shm::make_message(RendezvousKind::hello, 1, 2));
    shm::send_message(honest, shm::make_message(RendezvousKind::ready, 1, 2));
    try {
      const shm::Membership membership = shm::host_job(request, std::move(listener), Deadline::after(request.timeout));
      for (const std::uint32_t rank : {0U, 1U}) {
        FUZZ_REQUIRE(comm::state_of(membership.control.header(), rank) == wire::RankState::live);
      }
    } catch (const Error& error) {
      // The stranger took rank 1 and did not finish.
      FUZZ_REQUIRE(error.code() == Code::join_timeout);
    }
  }
  FUZZ_REQUIRE(fuzz::open_descriptors() <= descriptors);
  return 0;
}
