// What ranks tell each other of themselves: refused, or the same when it is told on.
#include <vector>

#include <baton/error.hpp>

#include "comm/backends/ucx/peer_record.hpp"
#include "fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace baton;
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const ucx::PeerRecord record = ucx::unpack(bytes, 1);
    FUZZ_REQUIRE(record.gate.places.size() <= ucx::kMostPlaces);
    const std::vector<std::byte> again = ucx::pack(record);
    FUZZ_REQUIRE(std::vector(bytes.begin(), bytes.end()) == again);
  } catch (const Error& error) {
    FUZZ_REQUIRE(error.code() == Code::protocol || error.code() == Code::join_refused);
  }
  return 0;
}
