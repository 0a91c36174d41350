#include "comm/backends/shm/shm_backend.hpp"

#include <unistd.h>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/recorder.hpp"
#include "comm/backends/shm/attendant.hpp"
#include "comm/backends/shm/rendezvous.hpp"
#include "comm/health.hpp"
#include "comm/memfd.hpp"

namespace baton::shm {
namespace {

/// How long goodbyes and notes to the launcher may take; both can be missed without harm.
constexpr std::chrono::milliseconds kCourtesy{100};

wire::Mail make_mail(wire::MailKind kind, std::uint32_t sender, wire::AllocationKey key = {}, std::uint64_t bytes = 0) {
  return {wire::kMailMagic, wire::kMailVersion, kind, sender, key, bytes};
}

class ShmBackend final : public comm::Backend {
 public:
  ShmBackend(Membership membership, std::uint32_t rank, const std::string& job, Attendant::OnDeath on_death)
      : rank_(rank),
        pid_(::getpid()),
        control_(std::move(membership.control)),
        mailroom_(std::move(membership.mailroom)),
        attendant_(std::make_unique<Attendant>(control_.header(), rank, *mailroom_, std::move(membership.listener), job,
                                               std::move(on_death))) {
    if (EventArea* area = wire::event_area(control_.header(), rank)) events::share(control_.memory, *area);
  }

  ~ShmBackend() override {
    // A forked child has a copy of this object but not the thread.
    if (::getpid() != pid_) attendant_->abandon();
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "shm"; }
  [[nodiscard]] wire::ControlHeader& control() noexcept override { return control_.header(); }
  [[nodiscard]] FutexScope futex_scope() const noexcept override { return FutexScope::shared; }
  [[nodiscard]] int control_descriptor() const noexcept override { return control_.fd.get(); }

  [[nodiscard]] std::shared_ptr<comm::SharedMemory> offer(wire::AllocationKey key, std::uint64_t bytes,
                                                          std::span<const std::uint32_t> to, Deadline deadline,
                                                          FunctionRef<void(void*)> prepare) override {
    const UniqueFd fd = comm::create_memfd("baton-window", bytes);
    auto memory = comm::map_memfd(fd, bytes);
    prepare(memory->address());
    for (const std::uint32_t rank : to) {
      try {
        mailroom_->send(rank, make_mail(wire::MailKind::segment, rank_, key, bytes), fd.get(), deadline);
      } catch (const Error& error) {
        // A member that is gone is reported with its cause by the wait for all members, which follows.
        if (error.code() != Code::peer_died) throw;
        log::debug("{}", error.message());
      }
    }
    return memory;
  }

  [[nodiscard]] std::shared_ptr<comm::SharedMemory> collect(wire::AllocationKey key) override {
    // Taking the mail here saves the way through the attendant.
    if (mailroom_->sort()) attendant_->poke();
    return mailroom_->collect(key);
  }

  void say_farewell(comm::Farewell farewell, const comm::FailureReason& reason) noexcept override {
    if (::getpid() != pid_) return;
    if (farewell == comm::Farewell::leave) {
      comm::mark_left(control(), rank_, FutexScope::shared);
    } else {
      comm::mark_failed(control(), rank_, reason, FutexScope::shared);
    }
    tell_watcher();
  }

  void send_control_to(const std::string& launcher) {
    try {
      MailSocket socket(mail_address(comm::make_token(), rank_));
      socket.send(launcher, make_mail(wire::MailKind::control, rank_, {}, control_.memory->bytes()), control_.fd.get(),
                  Deadline::after(kCourtesy));
    } catch (const Error& error) {
      log::debug("the launcher did not take the control segment: {}", error.message());
    }
  }

 private:
  /// The nearest living rank before this one watches it, and must now watch another.
  void tell_watcher() noexcept {
    for (std::uint32_t step = 1; step < control().rank_count; ++step) {
      const std::uint32_t other = (rank_ + control().rank_count - step) % control().rank_count;
      if (!comm::lives_here(control(), other)) continue;
      try {
        mailroom_->send(other, make_mail(wire::MailKind::left, rank_), -1, Deadline::after(kCourtesy));
      } catch (const std::exception& error) {
        log::debug("rank {} was not told that rank {} left: {}", other, rank_, error.what());
      }
      return;
    }
  }

  std::uint32_t rank_;
  pid_t pid_;
  comm::ControlSegment control_;
  std::unique_ptr<Mailroom> mailroom_;
  std::unique_ptr<Attendant> attendant_;
};

}  // namespace

std::unique_ptr<comm::Backend> rendezvous(const std::string& name, std::uint32_t rank, std::uint32_t size,
                                          std::chrono::nanoseconds timeout,
                                          const std::optional<std::string>& launcher) {
  return rendezvous(HostGroup{name, rank, size, {}, {}, {}}, timeout, launcher);
}

std::unique_ptr<comm::Backend> rendezvous(HostGroup group, std::chrono::nanoseconds timeout,
                                          const std::optional<std::string>& launcher) {
  Membership membership =
      meet({group.name, group.rank, group.size, timeout, std::move(group.here), std::move(group.bad_news)});
  const bool host = static_cast<bool>(membership.listener);
  auto backend = std::make_unique<ShmBackend>(std::move(membership), group.rank, group.name, std::move(group.on_death));
  if (host && launcher) backend->send_control_to(*launcher);
  return backend;
}

}  // namespace baton::shm
