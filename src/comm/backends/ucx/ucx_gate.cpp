#include "comm/backends/ucx/ucx_gate.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/deadline.hpp"
#include "base/fail.hpp"
#include "base/imports.hpp"
#include "base/log.hpp"
#include "comm/backends/ucx/ucx_unseen.hpp"

namespace baton::ucx {
namespace {

/// The longest time for which the system hides a silent connection.
constexpr std::chrono::hours kLongestSilence{1};

std::optional<SocketPlace> place_at(const sockaddr* address) {
  SocketPlace place;
  if (address->sa_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(*address);
    place.host[10] = place.host[11] = 0xff;
    std::memcpy(place.host.data() + 12, &four.sin_addr, sizeof four.sin_addr);
    place.port = ntohs(four.sin_port);
    return place;
  }
  if (address->sa_family != AF_INET6) return std::nullopt;
  const auto& six = reinterpret_cast<const sockaddr_in6&>(*address);
  std::memcpy(place.host.data(), &six.sin6_addr, place.host.size());
  place.port = ntohs(six.sin6_port);
  return place;
}

std::optional<SocketPlace> place_of(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return std::nullopt;
  return place_at(reinterpret_cast<const sockaddr*>(&address));
}

/// What no other socket of this system ever has; 0 if `file` is none.
std::uint64_t cookie_of(int file) noexcept {
  std::uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  return ::getsockopt(file, SOL_SOCKET, SO_COOKIE, &cookie, &length) == 0 ? cookie : 0;
}

bool has_unread_bytes(int socket) noexcept {
  int bytes = 0;
  return ::ioctl(socket, FIONREAD, &bytes) == 0 && bytes > 0;
}

thread_local Gate* opening = nullptr;

}  // namespace

/// All sockets of UCX in this process, as far as they are ours. Other users of UCX are left alone. Any thread.
class Sockets {
 public:
  static Sockets& instance() {
    // Threads of UCX may outlive everything else of this program.
    static Sockets& all = *new Sockets;
    return all;
  }

  void remove(const Gate& gate) {
    const std::lock_guard lock(mutex_);
    std::erase_if(listening_, [&](const auto& one) { return one.second == &gate; });
    std::erase_if(unheard_, [&](const auto& one) { return &one.second.gate == &gate; });
    count();
  }
  std::vector<SocketPlace> places_of(const Gate& gate) {
    const std::lock_guard lock(mutex_);
    return gate.places_;
  }
  void introduce(std::uint32_t rank, const GateKey& to) {
    const auto known = std::make_shared<Known>(to.key, rank);
    const std::lock_guard lock(mutex_);
    for (const SocketPlace& place : to.places) known_[place] = known;
  }
  void forget(const SocketPlace& place) {
    const std::lock_guard lock(mutex_);
    known_.erase(place);
  }

  int listen(int socket, int backlog) {
    if (opening != nullptr) {
      // The system tells of who has connected when it has said something, or was silent for so long.
      const auto patience = std::min<std::chrono::nanoseconds>(opening->patience_, kLongestSilence);
      const int silence = static_cast<int>(std::chrono::ceil<std::chrono::seconds>(patience).count());
      static_cast<void>(::setsockopt(socket, IPPROTO_TCP, TCP_DEFER_ACCEPT, &silence, sizeof silence));
      const std::lock_guard lock(mutex_);
      listening_[socket] = opening;
    } else {
      const std::lock_guard lock(mutex_);
      listening_.erase(socket);
    }
    const int result = ::listen(socket, backlog);
    const auto place = opening == nullptr ? std::nullopt : place_of(socket);
    if (result == 0 && place) {
      const std::lock_guard lock(mutex_);
      opening->places_.push_back(*place);
    }
    return result;
  }

  int accept(int socket, sockaddr* address, socklen_t* length) {
    const int connection = ::accept(socket, address, length);
    if (connection < 0) return connection;
    const std::lock_guard lock(mutex_);
    forget(connection);
    const auto found = listening_.find(socket);
    if (found != listening_.end()) {
      Gate& gate = *found->second;
      unheard_.try_emplace(connection, gate, cookie_of(connection), Deadline::after(gate.patience_));
    }
    count();
    return connection;
  }

  int connect(int socket, const sockaddr* address, socklen_t length) {
    {
      const std::lock_guard lock(mutex_);
      forget(socket);
      const auto place = place_at(address);
      const auto known = place ? known_.find(*place) : known_.end();
      if (known != known_.end()) {
        Known& whom = *known->second;
        owed_[socket] = wire::make_hello(whom.key, whom.as_rank, whom.next_number++);
      }
      count();
    }
    return ::connect(socket, address, length);
  }

  /// Before anything is sent through `socket`. False, with errno, if that has to wait.
  bool greet(int socket) noexcept {
    // Relaxed: a thread that uses a socket learned of it from the thread that made it.
    if (owed_count_.load(std::memory_order_relaxed) == 0) [[likely]]
      return true;
    const std::lock_guard lock(mutex_);
    const auto found = owed_.find(socket);
    if (found == owed_.end()) return true;
    const ssize_t sent = ::send(socket, &found->second, sizeof found->second, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return false;
    if (sent < static_cast<ssize_t>(sizeof found->second)) {
      // Never seen: a socket that has sent nothing has room for more than this.
      errno = ECONNRESET;
      return false;
    }
    owed_.erase(found);
    count();
    return true;
  }

  /// Before anything is taken from `socket`. False, with errno, if that has to wait, or is nobody of the job.
  bool hear(int socket) noexcept {
    // Relaxed: as in greet().
    if (unheard_count_.load(std::memory_order_relaxed) == 0) [[likely]]
      return true;
    const std::lock_guard lock(mutex_);
    const auto found = unheard_.find(socket);
    if (found == unheard_.end()) return true;
    Arrival& arrival = found->second;
    const std::span said(arrival.said);
    const ssize_t bytes = ::recv(socket, said.data() + arrival.bytes, said.size() - arrival.bytes, MSG_DONTWAIT);
    if (bytes < 0 && errno != ECONNRESET) return false;
    arrival.bytes += static_cast<std::size_t>(std::max<ssize_t>(bytes, 0));
    errno = EAGAIN;
    if (bytes > 0 && arrival.bytes < said.size()) return false;
    Gate& gate = arrival.gate;
    const char* objection =
        arrival.is_late ? "slow to say who it is" : gate.keeper_.objection(said.first(arrival.bytes));
    if (objection != nullptr) {
      // A silent one may be a rank of the job: UCX ends connections that it does not need, before it sent anything.
      const bool is_worth_a_line = arrival.is_late || arrival.bytes != 0;
      if (is_worth_a_line && !std::exchange(gate.has_complained_, true)) {
        log::warn("somebody who is {} connected to where this rank listens for others, and was sent away", objection);
      }
      ::shutdown(socket, SHUT_RDWR);
      errno = ECONNRESET;
    }
    unheard_.erase(found);
    count();
    return objection == nullptr;
  }

  /// Ends what took longer to say its hello than `gate` waits for it: hear() is told of that. For a thread whose worker
  /// is not destroyed meanwhile.
  void send_away_late(const Gate& gate) noexcept {
    // Relaxed: one that is missed now is found the next time.
    if (unheard_count_.load(std::memory_order_relaxed) == 0) [[likely]]
      return;
    const std::lock_guard lock(mutex_);
    for (auto at = unheard_.begin(); at != unheard_.end();) {
      const auto now = at++;
      auto& [socket, arrival] = *now;
      if (&arrival.gate != &gate || arrival.is_late || !arrival.until.passed()) continue;
      if (cookie_of(socket) != arrival.cookie) {
        // UCX has closed it unheard; its number may be that of another file by now.
        unheard_.erase(now);
      } else if (!has_unread_bytes(socket)) {  // else UCX has not come to what it said last
        arrival.is_late = true;
        ::shutdown(socket, SHUT_RDWR);
      }
    }
    count();
  }

 private:
  /// Somebody who lets this process in.
  struct Known {
    Known(const HashKey& its_key, std::uint32_t rank) : key(its_key), as_rank(rank) {}
    HashKey key;
    std::uint32_t as_rank;
    std::uint32_t next_number = 0;
  };

  /// A connection that has not introduced itself yet.
  struct Arrival {
    Arrival(Gate& at, std::uint64_t its_cookie, Deadline its_deadline)
        : gate(at), cookie(its_cookie), until(its_deadline) {}
    Gate& gate;
    std::uint64_t cookie;
    Deadline until;
    bool is_late = false;
    std::array<std::byte, sizeof(wire::Hello)> said{};
    std::size_t bytes = 0;
  };

  /// What was known of a socket that had this number before.
  void forget(int socket) noexcept {
    owed_.erase(socket);
    unheard_.erase(socket);
  }
  void count() noexcept {
    owed_count_.store(owed_.size(), std::memory_order_relaxed);
    unheard_count_.store(unheard_.size(), std::memory_order_relaxed);
  }

  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<int, Gate*> listening_;
  std::map<SocketPlace, std::shared_ptr<Known>> known_;
  std::map<int, wire::Hello> owed_;  // what is to be said first
  std::map<int, Arrival> unheard_;
  // How many these are; changed under mutex_.
  std::atomic<std::size_t> owed_count_{0};
  std::atomic<std::size_t> unheard_count_{0};
};

namespace {

// What UCX calls in place of the functions of the same names.

int guarded_listen(int socket, int backlog) {
  const CalledByUcx ours;
  return Sockets::instance().listen(socket, backlog);
}

int guarded_accept(int socket, sockaddr* address, socklen_t* length) {
  const CalledByUcx ours;
  return Sockets::instance().accept(socket, address, length);
}

int guarded_connect(int socket, const sockaddr* address, socklen_t length) {
  const CalledByUcx ours;
  return Sockets::instance().connect(socket, address, length);
}

ssize_t guarded_send(int socket, const void* data, std::size_t bytes, int flags) {
  return Sockets::instance().greet(socket) ? ::send(socket, data, bytes, flags) : -1;
}

bool says_that_connection_broke(int error) noexcept {
  return error == ECONNRESET || error == EPIPE || error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH;
}

/// For payloads. If the rest of one cannot be sent any more, UCX 1.13 completes it twice, and aborts. So a broken
/// connection is one that has no room now: that it broke UCX hears where it reads, and that it does once more at once.
ssize_t guarded_sendmsg(int socket, const msghdr* message, int flags) {
  if (!Sockets::instance().greet(socket)) return -1;
  const ssize_t sent = ::sendmsg(socket, message, flags);
  if (sent < 0 && says_that_connection_broke(errno)) errno = EAGAIN;
  return sent;
}

ssize_t guarded_recv(int socket, void* data, std::size_t bytes, int flags) {
  return Sockets::instance().hear(socket) ? ::recv(socket, data, bytes, flags) : -1;
}

}  // namespace

void guard_sockets(const void* inside) {
  // What can be heard without being said, or said without being heard, would only end in silence: all or none.
  const std::pair<const char*, void*> replacements[] = {
      {"send", reinterpret_cast<void*>(&guarded_send)},       {"sendmsg", reinterpret_cast<void*>(&guarded_sendmsg)},
      {"connect", reinterpret_cast<void*>(&guarded_connect)}, {"accept", reinterpret_cast<void*>(&guarded_accept)},
      {"listen", reinterpret_cast<void*>(&guarded_listen)},   {"recv", reinterpret_cast<void*>(&guarded_recv)},
  };
  for (const auto& [name, function] : replacements) {
    if (replace_import(inside, name, function)) continue;
    throw Error(Code::unsupported, "this UCX cannot be guarded against strangers",
                {fmt::format("its library makes no calls of {}() that can be redirected", name)},
                "the libucx0 of a distribution");
  }
}

Gate::Opening::Opening(Gate& gate) noexcept { opening = &gate; }
Gate::Opening::~Opening() { opening = nullptr; }

Gate::~Gate() { Sockets::instance().remove(*this); }

void Gate::send_away_late() const noexcept { Sockets::instance().send_away_late(*this); }

GateKey Gate::key() const { return {keeper_.key(), Sockets::instance().places_of(*this)}; }

void Introduction::add(const GateKey& other) {
  places_.insert(places_.end(), other.places.begin(), other.places.end());
  Sockets::instance().introduce(rank_, other);
}

Introduction::~Introduction() {
  for (const SocketPlace& place : places_) Sockets::instance().forget(place);
}

}  // namespace baton::ucx
