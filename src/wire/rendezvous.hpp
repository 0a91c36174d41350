// What ranks and their host say to each other while a job comes together. One struct for all messages.
#pragma once

#include <cstdint>

namespace baton::wire {

inline constexpr std::uint32_t kRendezvousMagic = 0x5a444e52;  // "RNDZ" in memory
inline constexpr std::uint32_t kRendezvousVersion = 1;

enum class RendezvousKind : std::uint32_t {
  hello = 1,    // guest: I am `rank` of `size`, and may run on `processors`
  welcome = 2,  // host: come in; bind your mail socket under `token`. `rank` is the host's
  ready = 3,    // guest: my mail socket is bound
  go = 4,       // host: everyone is ready; the descriptor is the control segment
  refused = 5,  // host: you cannot join: `code`, `text`
  failed = 6,   // host: the job does not come together: `code`, `text`
};

struct RendezvousMessage {
  std::uint32_t magic;
  std::uint32_t version;
  RendezvousKind kind;
  std::uint32_t rank;
  std::uint32_t size;
  std::uint32_t code;
  std::uint8_t token[16];
  std::uint64_t processors[16];  // hello: a bit for each processor this rank may run on
  char text[344];
};
static_assert(sizeof(RendezvousMessage) == 512);

}  // namespace baton::wire
