// Hellos of connections: only those of the job are taken, and each once.
#include <set>

#include "fuzz_input.hpp"
#include "fuzz_target.hpp"
#include "wire/hello.hpp"

namespace {

using namespace baton;

constexpr std::uint32_t kRanks = 5;
constexpr HashKey kKey = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

bool is_right(const wire::Hello& hello) {
  const wire::Hello right = wire::make_hello(kKey, hello.source, hello.number);
  return std::memcmp(&hello, &right, sizeof right) == 0 && hello.source < kRanks && hello.number < wire::kMostHellos;
}

}  // namespace

/// Many at one door. An odd byte before each: as a rank of the job would say it, but for what the byte asks for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  wire::Doorkeeper keeper(kKey, kRanks);
  std::set<std::pair<std::uint32_t, std::uint32_t>> taken;
  fuzz::Input input(data, size);
  while (!input.empty()) {
    const std::uint8_t kind = input.byte();
    wire::Hello hello{};
    if ((kind & 1) != 0) {
      hello = wire::make_hello(kKey, input.byte() % (kRanks + 1), input.byte() % (wire::kMostHellos + 1));
      if ((kind & 2) != 0) reinterpret_cast<std::uint8_t*>(&hello)[input.byte() % sizeof hello] ^= input.byte();
    } else {
      input.overwrite(hello);
    }
    const std::size_t said = (kind & 4) != 0 ? input.byte() % sizeof hello : sizeof hello;
    const bool is_in = keeper.objection(std::as_bytes(std::span(&hello, 1)).first(said)) == nullptr;
    const bool is_new = !taken.contains({hello.source, hello.number});
    FUZZ_REQUIRE(is_in == (said == sizeof hello && is_right(hello) && is_new));
    if (is_in) taken.insert({hello.source, hello.number});
  }
  return 0;
}
