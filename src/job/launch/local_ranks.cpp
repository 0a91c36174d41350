#include "job/launch/local_ranks.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/fail.hpp"
#include "base/liveness.hpp"
#include "base/log.hpp"
#include "base/process_stat.hpp"
#include "base/quote.hpp"
#include "job/launch/random_name.hpp"

namespace baton::job {

// The program's name is for `baton ps`. Short enough to fit into wire::kNameBytes behind "baton run/".
std::string job_name(const std::string& program) {
  std::string name = program.substr(program.rfind('/') + 1).substr(0, 16);
  for (char& c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
    if (!plain) c = '_';
  }
  return fmt::format("{}-{}", name, random_name().substr(0, 16));
}

LocalRanks::LocalRanks(LocalRanksPlan plan, const SignalGuard& signals, EventLoop& loop, RankOutput& output,
                       RankEvents& events)
    : plan_(std::move(plan)),
      signals_(signals),
      loop_(loop),
      output_(output),
      events_(events),
      keeper_(plan_.job),
      control_(static_cast<std::uint32_t>(plan_.size)) {
  orphanage_.leave_alone(keeper_.pid());
  loop_.add(control_.fd(), EPOLLIN, [this] { control_.receive(); });
}

LocalRanks::~LocalRanks() {
  loop_.remove(control_.fd());
  for (const Process& process : processes_) loop_.remove(process.pidfd.get());
}

std::vector<std::string> LocalRanks::environment() const {
  std::vector<std::string> environment;
  for (const std::string& entry : plan_.environment) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    constexpr std::array kOurs = {"BATON_RANK",     "BATON_SIZE",  "BATON_JOB",
                                  "BATON_LAUNCHER", "BATON_AGENT", "BATON_HOST_COUNT"};
    if (std::find(kOurs.begin(), kOurs.end(), name) == kOurs.end()) environment.push_back(entry);
  }
  environment.insert(environment.end(), plan_.variables.begin(), plan_.variables.end());
  environment.push_back(fmt::format("BATON_SIZE={}", plan_.size));
  environment.push_back(fmt::format("BATON_JOB={}", plan_.job));
  environment.push_back(fmt::format("BATON_LAUNCHER={}", control_.address()));
  return environment;
}

void LocalRanks::start(int input_fd) {
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing) fail_system("opening /dev/null");
  const RankRecipe recipe{.program = plan_.program,
                          .arguments = plan_.command,
                          .environment = environment(),
                          .signals = signals_,
                          .keeper_fd = keeper_.fd(),
                          .open_files = open_files_.before(),
                          .processors = plan_.bind ? std::optional(allowed_processors()) : std::nullopt,
                          .first_rank = plan_.first_rank,
                          .ranks = plan_.count};
  for (int rank = plan_.first_rank; rank < plan_.first_rank + plan_.count; ++rank) {
    try {
      RankProcess process = start_rank(recipe, rank, rank == 0 ? input_fd : nothing.get(), start_pipe_);
      processes_.push_back({.pid = process.pid, .pidfd = std::move(process.pidfd)});
      orphanage_.leave_alone(process.pid);
      ++live_;
      events_.on_rank_started(rank, process.pid, {});
      output_.add(rank, std::move(process.output), std::move(process.error));
      loop_.add(processes_.back().pidfd.get(), EPOLLIN, [this, rank] { on_end(rank); });
    } catch (const Error& error) {
      throw error_in(Situation::too_many_processes,
                     fmt::format("rank {} of {} could not be started: {}", rank, plan_.size, error.message()),
                     error.notes());
    }
  }
  start_pipe_.close_writer();
}

// Called in the order in which ranks ended: the event loop keeps it.
void LocalRanks::on_end(int rank) {
  Process& ended = process(rank);
  RankEnding ending;
  ending.rank = rank;
  // Taken first: what follows takes time, in which others may end because of this one.
  ending.when = Deadline::Clock::now();
  // Mail, and news of a failed start, that came before the end belong before it.
  control_.receive();
  while (const auto failure = start_pipe_.next()) {
    events_.on_start_failure(
        Error(Code::launch_failed, fmt::format("rank {} of {} could not become {}: {}", failure->rank, plan_.size,
                                               quote(plan_.program), ::strerrordesc_np(failure->error_number))));
  }
  ending.last_seen = control_.look(static_cast<std::uint32_t>(rank));
  const auto status = status_of_child(static_cast<std::uint32_t>(ended.pid));
  if (!status) return;
  // Written down before it is reaped: while that goes on, those who watch the rank cannot learn how it ended.
  control_.rank_ended(static_cast<std::uint32_t>(rank), ended.pid, *status);
  if (::waitpid(ended.pid, nullptr, WNOHANG) != ended.pid) return;
  ending.status = *status;
  loop_.remove(ended.pidfd.get());
  ended.pidfd.reset();
  orphanage_.forget(ended.pid);
  --live_;
  if (::kill(-ended.pid, 0) != 0 && errno == ESRCH) {
    ended.group_is_gone = true;
    keeper_.forget(ended.pid);
  }
  on_child_end();
  events_.on_rank_ended(ending);
}

void LocalRanks::signal(int number) {
  for (const Process& process : processes_) {
    if (process.pidfd) ::kill(-process.pid, number);
  }
}

void LocalRanks::signal_rank(int rank, int number) {
  const auto index = static_cast<std::size_t>(rank - plan_.first_rank);
  if (rank >= plan_.first_rank && index < processes_.size() && processes_[index].pidfd) {
    ::kill(-processes_[index].pid, number);
  }
}

bool LocalRanks::is_stopped(int rank) const {
  const auto index = static_cast<std::size_t>(rank - plan_.first_rank);
  if (rank < plan_.first_rank || index >= processes_.size() || !processes_[index].pidfd) return false;
  const auto found = read_process_stat(static_cast<std::uint32_t>(processes_[index].pid));
  return found && found->state == 'T';
}

void LocalRanks::on_child_end() {
  orphanage_.reap([this](pid_t pid, int status) { control_.descendant_ended(pid, status); });
}

std::vector<std::string> LocalRanks::explain() { return control_.explain(); }

std::optional<RankSnapshot> LocalRanks::look(int rank) { return control_.look(static_cast<std::uint32_t>(rank)); }

void LocalRanks::end_descendants() {
  for (const Process& process : processes_) {
    if (!process.group_is_gone) ::kill(-process.pid, SIGKILL);
  }
  const Deadline give_up = Deadline::after(kKillPatience);
  for (;;) {
    on_child_end();
    if (!orphanage_.kill_all()) break;
    if (give_up.passed()) {
      log::warn("processes that the job started did not end within {} s of SIGKILL", kKillPatience.count());
      break;
    }
    loop_.wait(give_up);
  }
}

}  // namespace baton::job
