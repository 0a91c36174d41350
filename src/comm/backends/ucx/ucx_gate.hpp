// Where UCX takes connections, and whom it takes: those that begin with a hello that only ranks of the job can make.
//
// UCX 1.13 takes what comes through a connection for its own, and aborts if it is not; nothing that a stranger sends
// may get so far. It has no place for a hello of ours. So what it asks of the system for its sockets goes through here:
// who connects says the hello before the first byte of UCX, who accepts hears it and sends others away. A connection
// that broke while a payload was on its way is told where UCX ends it properly.
#pragma once

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "wire/hello.hpp"

namespace baton::ucx {

/// Of a socket; IPv4 addresses as ::ffff:a.b.c.d.
struct SocketPlace {
  std::array<std::uint8_t, 16> host{};
  std::uint16_t port = 0;
  auto operator<=>(const SocketPlace&) const = default;
};
static_assert(sizeof(SocketPlace) == 18);

/// What a rank must know of another one to be let in there.
struct GateKey {
  HashKey key{};
  std::vector<SocketPlace> places;
};
inline constexpr std::size_t kMostPlaces = 64;

/// Makes UCX, one of whose functions is at `inside`, ask here. Throws Error (unsupported) if this UCX cannot be made
/// to.
void guard_sockets(const void* inside);

/// The sockets at which a worker listens.
class Gate {
 public:
  /// A connection has `patience` to say its hello.
  Gate(std::uint32_t rank_count, std::chrono::nanoseconds patience)
      : patience_(patience), keeper_(make_hash_key(), rank_count) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate();

  /// While it lives, the sockets at which this thread lets UCX listen belong to it.
  class Opening {
   public:
    explicit Opening(Gate& gate) noexcept;
    Opening(const Opening&) = delete;
    Opening& operator=(const Opening&) = delete;
    ~Opening();
  };

  [[nodiscard]] GateKey key() const;
  /// To be called now and then, by the thread that uses the worker.
  void send_away_late() const noexcept;

 private:
  friend class Sockets;
  const std::chrono::nanoseconds patience_;
  // Guarded by the lock of Sockets.
  wire::Doorkeeper keeper_;
  std::vector<SocketPlace> places_;
  bool has_complained_ = false;
};

/// Lets a rank through the gates of others while it lives.
class Introduction {
 public:
  explicit Introduction(std::uint32_t rank) noexcept : rank_(rank) {}
  Introduction(const Introduction&) = delete;
  Introduction& operator=(const Introduction&) = delete;
  ~Introduction();

  void add(const GateKey& other);

 private:
  std::uint32_t rank_;
  std::vector<SocketPlace> places_;
};

}  // namespace baton::ucx
