// Datagrams from a process of the same user: dropped, refused, or a segment that is as announced.
#include <sys/mman.h>

#include <optional>

#include <baton/error.hpp>

#include "base/log.hpp"
#include "comm/backends/shm/mailroom.hpp"
#include "comm/backends/shm/unix_address.hpp"
#include "comm/memfd.hpp"
#include "fuzz_input.hpp"
#include "fuzz_target.hpp"

namespace {

using namespace baton;

struct Stage {
  comm::JobToken token = comm::make_token();
  std::optional<shm::Mailroom> room{std::in_place, token, 0U};
  UniqueFd sender{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  shm::UnixAddress address{shm::mail_address(token, 0)};
  UniqueFd sealed = comm::create_memfd("fuzz", 4096);
  UniqueFd unsealed{::memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
};

void send_one(Stage& stage, fuzz::Input& input) {
  const std::uint8_t how = input.byte();
  const int descriptor = (how & 1U) != 0 ? stage.unsealed.get() : stage.sealed.get();
  const std::size_t copies = (how >> 1U) % 4 == 3 ? input.byte() : (how >> 1U) % 4;
  std::vector<std::uint8_t> bytes;
  if ((how & 8U) != 0) {
    bytes = input.bytes(input.byte());
  } else {
    // Nearly right: the input changes a message that is.
    wire::Mail mail{wire::kMailMagic, wire::kMailVersion, wire::MailKind::segment, 1, {1, 2}, 4096};
    input.overwrite(mail);
    bytes = fuzz::bytes_of(mail);
  }
  fuzz::send_with_descriptors(stage.sender.get(), bytes, descriptor, std::min<std::size_t>(copies, 253),
                              stage.address.get(), stage.address.length());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Stage stage;
  log::set_threshold(LogLevel::off);
  static const std::ptrdiff_t descriptors = fuzz::open_descriptors();
  fuzz::Input input(data, size);
  for (int messages = 0; messages < 8 && !input.empty(); ++messages) send_one(stage, input);
  static_cast<void>(stage.room->sort());
  for (const wire::AllocationKey key : {wire::AllocationKey{1, 2}, wire::AllocationKey{0, 0}}) {
    try {
      const auto segment = stage.room->collect(key);
      FUZZ_REQUIRE(segment == nullptr || segment->bytes() == 4096);
    } catch (const Error& error) {
      FUZZ_REQUIRE(error.code() == Code::protocol);
    }
    FUZZ_REQUIRE(stage.room->collect(key) == nullptr);
  }
  static int runs = 0;
  // Segments of keys that nobody asks for stay: they are the sender's to account for. A new room forgets them.
  if (++runs % 512 == 0) {
    stage.room.emplace(stage.token, 0U);
    FUZZ_REQUIRE(fuzz::open_descriptors() <= descriptors);
  }
  return 0;
}
