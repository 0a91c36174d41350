#include "job/launch/control_watch.hpp"

#include <sys/wait.h>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "comm/health.hpp"
#include "comm/memfd.hpp"
#include "job/launch/descendants.hpp"
#include "job/launch/random_name.hpp"

namespace baton::job {

ControlWatch::ControlWatch(std::uint32_t ranks, pid_t rank)
    : ranks_(ranks), rank_(rank), address_("baton-launcher-" + random_name()), mail_(address_) {}

void ControlWatch::receive() {
  while (auto letter = mail_.receive()) {
    if (letter->mail.kind != wire::MailKind::control || !letter->descriptor) continue;
    const auto sender = static_cast<pid_t>(letter->sender_pid);
    if (rank_ != 0 ? sender != rank_ : !is_descendant(sender)) {
      log::warn("process {} sent a control segment that this job did not expect", letter->sender_pid);
      continue;
    }
    // The ranks may meet again, as another job: what is watched is the first one.
    if (memory_) continue;
    // A rank may start processes that make a job of their own, which has its own number of ranks.
    const std::size_t bytes = wire::control_bytes(ranks_, ranks_);
    if (letter->mail.bytes != bytes) {
      log::debug("process {} is a rank of another job than this one", letter->sender_pid);
      continue;
    }
    try {
      auto memory = comm::map_memfd(letter->descriptor, bytes);
      if (const char* defect = wire::control_defect(memory->address(), memory->bytes())) {
        fail(Code::protocol, "a control segment came that cannot be read: {}", defect);
      }
      memory_ = std::move(memory);
      segment_ = std::move(letter->descriptor);
    } catch (const Error& error) {
      log::warn("process {}: {}", letter->sender_pid, error.message());
    }
  }
}

wire::ControlHeader* ControlWatch::control() const {
  if (!memory_) return nullptr;
  // Every process of the job can write there. Checked anew each time: a rank that wrote nonsense must not take the
  // launcher with it.
  if (wire::control_defect(memory_->address(), memory_->bytes()) != nullptr) return nullptr;
  return static_cast<wire::ControlHeader*>(memory_->address());
}

std::optional<RankSnapshot> ControlWatch::look(std::uint32_t rank) const {
  const wire::ControlHeader* header = control();
  if (header == nullptr) return std::nullopt;
  return describe_rank(wire::rank_block(*header, rank), rank);
}

std::optional<comm::ControlView> ControlWatch::view() const {
  const wire::ControlHeader* header = control();
  if (header == nullptr) return std::nullopt;
  return comm::ControlView{.header = header, .bytes = memory_->bytes()};
}

std::vector<std::string> ControlWatch::explain() const {
  const auto seen = view();
  return seen ? comm::report_hang(*seen).lines : std::vector<std::string>();
}

void ControlWatch::mark(std::uint32_t rank, int status) {
  const auto kind = WIFSIGNALED(status) ? wire::EndKind::signal : wire::EndKind::exit_code;
  const int value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  comm::mark_dead(*control(), rank, kind, static_cast<std::uint32_t>(value));
}

void ControlWatch::rank_ended(std::uint32_t rank, pid_t pid, int status) {
  const auto seen = look(rank);
  if (!seen || seen->process.pid == 0) return;
  // A wrapper (a shell, a profiler) may have ended before the process that joined.
  const bool joined_itself = seen->process.pid == static_cast<std::uint32_t>(pid);
  if (joined_itself || !is_alive(seen->process)) mark(rank, status);
}

void ControlWatch::descendant_ended(pid_t pid, int status) {
  for (std::uint32_t rank = 0; rank < ranks_ && memory_; ++rank) {
    const auto seen = look(rank);
    if (seen && seen->process.pid == static_cast<std::uint32_t>(pid)) mark(rank, status);
  }
}

}  // namespace baton::job
