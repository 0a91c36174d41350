#include "comm/backends/ucx/ucx_backend.hpp"

#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "comm/backends/shm/shm_backend.hpp"
#include "comm/backends/ucx/early_ends.hpp"
#include "comm/backends/ucx/ucx_path.hpp"
#include "comm/backends/ucx/ucx_progress.hpp"
#include "comm/control_setup.hpp"
#include "comm/health.hpp"

namespace baton::ucx {
namespace {

/// How long a rank that leaves waits until others have dealt with what it sent.
constexpr std::chrono::seconds kLastWords{10};

std::uint64_t make_pass() {
  std::uint64_t pass = 0;
  if (::getrandom(&pass, sizeof pass, 0) != static_cast<ssize_t>(sizeof pass)) fail_system("getrandom");
  return pass;
}

/// One rank of each host hears from all ranks of the others, and UCX takes two sockets for each direction.
void permit_files(std::uint64_t far_ranks) {
  constexpr std::uint64_t kFilesOfOthers = 512;
  const std::uint64_t needed = 4 * far_ranks + kFilesOfOthers;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  limit.rlim_cur = std::min<std::uint64_t>(needed, limit.rlim_max);
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == needed) return;
  log::warn("a rank with {} ranks on other hosts may need {} open files, and may open {}", far_ranks, needed,
            limit.rlim_max);
}

class UcxBackend final : public comm::Backend {
 public:
  UcxBackend(std::shared_ptr<comm::Rendezvous> rendezvous, std::unique_ptr<comm::Backend> host,
             std::unique_ptr<UcxPath> path)
      : pid_(::getpid()),
        host_(std::move(host)),
        rendezvous_(std::move(rendezvous)),
        path_(std::move(path)),
        thread_(std::make_unique<ProgressThread>(*path_)) {}

  ~UcxBackend() override {
    if (::getpid() == pid_) return;
    // A forked child has copies of all this, but neither the thread nor a part in what UCX does.
    thread_->abandon();
    static_cast<void>(path_.release());
    new (std::nothrow) std::shared_ptr<comm::Rendezvous>(std::move(rendezvous_));
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "ucx"; }
  [[nodiscard]] wire::ControlHeader& control() noexcept override { return host_->control(); }
  [[nodiscard]] FutexScope futex_scope() const noexcept override { return host_->futex_scope(); }
  [[nodiscard]] int control_descriptor() const noexcept override { return host_->control_descriptor(); }
  [[nodiscard]] comm::Path* path() noexcept override { return path_.get(); }

  [[nodiscard]] std::shared_ptr<comm::SharedMemory> offer(wire::AllocationKey key, std::uint64_t bytes,
                                                          std::span<const std::uint32_t> to, Deadline deadline,
                                                          FunctionRef<void(void*)> prepare) override {
    return host_->offer(key, bytes, to, deadline, prepare);
  }
  [[nodiscard]] std::shared_ptr<comm::SharedMemory> collect(wire::AllocationKey key) override {
    return host_->collect(key);
  }

  void say_farewell(comm::Farewell farewell, const comm::FailureReason& reason) noexcept override {
    if (::getpid() != pid_) return;
    comm::RankEnd end;
    end.rank = rendezvous_->rank();
    if (farewell == comm::Farewell::leave) {
      end.state = wire::RankState::left;
      try {
        if (!path_->flush(comm::Flushed::everything, Deadline::after(kLastWords)))
          log::warn("rank {} leaves before other hosts have dealt with what it sent", rendezvous_->rank());
      } catch (const std::exception& error) {
        log::warn("rank {} leaves without a last flush: {}", rendezvous_->rank(), error.what());
      }
    } else {
      end.kind = wire::EndKind::error;
      end.value = static_cast<std::uint32_t>(reason.code);
      end.reason = std::string(reason.text.substr(0, reason.text.find('\n')));
    }
    host_->say_farewell(farewell, reason);
    rendezvous_->report_end(end);
  }

 private:
  pid_t pid_;
  std::unique_ptr<comm::Backend> host_;
  /// Ends before the control segment, into which it writes who ended.
  std::shared_ptr<comm::Rendezvous> rendezvous_;
  std::unique_ptr<UcxPath> path_;
  std::unique_ptr<ProgressThread> thread_;
};

}  // namespace

std::unique_ptr<comm::Backend> join(std::unique_ptr<comm::Rendezvous> rendezvous, const Options& options) {
  const std::shared_ptr<comm::Rendezvous> meeting = std::move(rendezvous);
  const Deadline deadline = Deadline::after(options.join_timeout);
  const std::uint32_t rank = meeting->rank();
  const std::uint32_t own_host = meeting->host_of(rank);
  auto worker = std::make_unique<UcxWorker>(meeting->address(), meeting->size(), options.hello_timeout);
  const std::uint64_t pass = make_pass();

  std::vector<std::uint32_t> host_of;
  std::vector<std::uint32_t> here;
  for (std::uint32_t other = 0; other < meeting->size(); ++other) {
    host_of.push_back(meeting->host_of(other));
    if (host_of.back() == own_host) here.push_back(other);
  }
  permit_files(host_of.size() - here.size());
  const auto ends = std::make_shared<EarlyEnds>();
  meeting->on_end([ends](const comm::RankEnd& end) { ends->note(end); });
  const auto hopeless = [ends, &host_of, own_host]() -> std::optional<Error> {
    const auto end = ends->first([&](std::uint32_t other) { return host_of[other] == own_host; });
    if (!end) return std::nullopt;
    std::vector<std::string> notes;
    if (!end->reason.empty()) notes.push_back(end->reason);
    return Error(Code::peer_died, fmt::format("rank {} died before the ranks had met", end->rank), std::move(notes));
  };
  const std::weak_ptr<comm::Rendezvous> told = meeting;
  auto host = shm::rendezvous({fmt::format("{}/{}", meeting->job(), own_host),
                               rank,
                               meeting->size(),
                               std::move(here),
                               [told](const comm::RankEnd& end) {
                                 if (const auto alive = told.lock()) alive->report_end(end);
                               },
                               {ends->fd(), hopeless}},
                              deadline.left(), options.launcher);
  // Everybody's control segment is there before anybody hears of the end of another.
  const auto records = meeting->exchange(
      pack({static_cast<std::uint32_t>(::getpid()), pass, worker->address(), worker->key()}), deadline);
  std::vector<PeerRecord> peers;
  for (std::uint32_t other = 0; other < meeting->size(); ++other) {
    peers.push_back(unpack(records[other], other));
    if (host_of[other] == own_host) continue;
    comm::enter_far_rank(host->control(), other, peers.back().pid, meeting->host_name(host_of[other]));
  }
  const FutexScope scope = host->futex_scope();
  ends->forward(
      [&control = host->control(), scope](const comm::RankEnd& end) { comm::mark_ended(control, end, scope); });
  auto path = std::make_unique<UcxPath>(std::move(worker), PathPlace{host->control(), rank, scope, std::move(host_of)},
                                        std::move(peers));
  return std::make_unique<UcxBackend>(meeting, std::move(host), std::move(path));
}

}  // namespace baton::ucx
