#include "comm/backends/shm/attendant.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/service_thread.hpp"
#include "comm/backends/shm/rendezvous_socket.hpp"
#include "comm/health.hpp"

namespace baton::shm {

Attendant::Attendant(wire::ControlHeader& control, std::uint32_t rank, Mailroom& mailroom, UniqueFd listener,
                     std::string job, OnDeath on_death)
    : control_(control),
      rank_(rank),
      mailroom_(mailroom),
      listener_(std::move(listener)),
      job_(std::move(job)),
      on_death_(std::move(on_death)),
      poke_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!poke_) fail_system("eventfd");
  thread_ = start_service_thread("baton-attendant", [this] { run(); });
}

Attendant::~Attendant() {
  if (!thread_.joinable()) return;
  // Pairs with the load in run().
  stop_.store(true, std::memory_order_release);
  poke();
  thread_.join();
}

void Attendant::poke() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(::write(poke_.get(), &one, sizeof one));
}

void Attendant::run() {
  choose_whom_to_watch();
  while (true) {
    std::array<pollfd, 4> events = {{{poke_.get(), POLLIN, 0},
                                     {mailroom_.fd(), POLLIN, 0},
                                     {watch_ ? watch_->fd() : -1, POLLIN, 0},
                                     {listener_.get(), POLLIN, 0}}};
    const bool must_ask = watch_ && watch_->fd() < 0;
    const int timeout_ms = must_ask ? static_cast<int>(DeathWatch::poll_interval().count()) : -1;
    if (::poll(events.data(), events.size(), timeout_ms) < 0 && errno != EINTR) {
      log::warn("the attendant of rank {} ends: poll failed with errno {}", rank_, errno);
      return;
    }
    bool choose = false;
    if (events[0].revents != 0) {
      std::uint64_t pokes = 0;
      static_cast<void>(::read(poke_.get(), &pokes, sizeof pokes));
      // Pairs with the store in the destructor.
      if (stop_.load(std::memory_order_acquire)) return;
      choose = true;
    }
    if (events[1].revents != 0) {
      choose = mailroom_.sort() || choose;
      wire::rank_block(control_, rank_).doorbell.ring(FutexScope::shared);
    }
    if (events[3].revents != 0) refuse_latecomer();
    if (watch_ && (events[2].revents != 0 || must_ask) && watch_->ended()) {
      report_death();
      choose = true;
    }
    if (choose) choose_whom_to_watch();
  }
}

void Attendant::choose_whom_to_watch() {
  for (std::uint32_t step = 1; step < control_.rank_count; ++step) {
    const std::uint32_t other = (rank_ + step) % control_.rank_count;
    if (!comm::lives_here(control_, other)) continue;
    if (watch_ && watched_ == other) return;
    const wire::RankBlock& block = wire::rank_block(control_, other);
    const ProcessId process{block.pid.load(std::memory_order_relaxed),
                            block.start_time.load(std::memory_order_relaxed)};
    watched_ = other;
    try {
      watch_.emplace(process);
    } catch (const Error& error) {
      // Out of descriptors: asking from time to time needs none.
      log::debug("rank {} watches rank {} by asking: {}", rank_, other, error.message());
      watch_.emplace(process, DeathWatch::Mechanism::polling);
    }
    return;
  }
  watch_.reset();
}

void Attendant::report_death() {
  wire::EndKind kind = wire::EndKind::unknown;
  int value = 0;
  if (const auto status = exit_status_of(*watch_)) {
    kind = WIFSIGNALED(*status) ? wire::EndKind::signal : wire::EndKind::exit_code;
    value = WIFSIGNALED(*status) ? WTERMSIG(*status) : WEXITSTATUS(*status);
  }
  // First: a rank of this host that fails because of it, and says so, is not the cause.
  if (on_death_ && comm::state_of(control_, watched_) == wire::RankState::live)
    on_death_({watched_, wire::RankState::dead, kind, static_cast<std::uint32_t>(value), {}});
  comm::mark_dead(control_, watched_, kind, static_cast<std::uint32_t>(value));
  watch_.reset();
}

void Attendant::refuse_latecomer() {
  const UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!connection) return;
  if (control_.changes.load(std::memory_order_relaxed) != 0) {
    // A job that lost a rank will not be complete again: its name is free. The other side tries anew.
    listener_.reset();
    return;
  }
  send_refusal(connection, Code::rank_taken,
               fmt::format("all {} ranks of \"{}\" are taken by a job that runs already (rank {} is pid {})",
                           control_.rank_count, job_, rank_, ::getpid()));
}

}  // namespace baton::shm
