#include <sched.h>
#include <sys/resource.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/processors.hpp"
#include "base/text_file.hpp"
#include "cli/doctor/findings.hpp"

namespace baton::cli {
namespace {

std::string bytes_text(std::uint64_t bytes) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  constexpr double kMiB = 1024.0 * 1024.0;
  const auto value = static_cast<double>(bytes);
  return value >= kGiB ? fmt::format("{:.1f} GiB", value / kGiB) : fmt::format("{:.0f} MiB", value / kMiB);
}

std::string limit_text(rlim_t value) { return value == RLIM_INFINITY ? "unlimited" : fmt::format("{}", value); }

Finding check_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const int affinity = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 0;
  const int usable = count_processors();
  const auto group = cgroup_processor_limit({});
  std::string text = fmt::format("{} usable", usable);
  if (affinity > 0) text += fmt::format(", {} allowed by affinity", affinity);
  if (group) text += fmt::format(", {} by the control group", *group);
  if (usable > 1) return {.item = {}, .verdict = Verdict::ok, .text = text};
  return {.item = {}, .verdict = Verdict::limited, .text = text + "; ranks take turns on one processor"};
}

Finding check_memory() {
  const MemoryLimits limits = memory_limits();
  std::string text =
      fmt::format("{} obtainable, {} in the machine", bytes_text(limits.obtainable()), bytes_text(limits.total));
  if (limits.cgroup_limit) {
    text += fmt::format(", {} allowed by the control group", bytes_text(*limits.cgroup_limit));
  }
  const bool little = limits.obtainable() < limits.total / 10;
  return {.item = {}, .verdict = little ? Verdict::limited : Verdict::ok, .text = text};
}

Finding check_huge_pages() {
  const auto setting = read_text_file("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  const std::size_t open = setting ? setting->find('[') : std::string::npos;
  if (open == std::string::npos) {
    return {.item = {}, .verdict = Verdict::limited, .text = "this kernel offers none for windows"};
  }
  const std::string chosen = setting->substr(open + 1, setting->find(']', open) - open - 1);
  if (chosen == "never" || chosen == "deny") {
    return {.item = {},
            .verdict = Verdict::limited,
            .text = fmt::format("\"{}\" for windows: large ones cost more address translation; `echo advise > "
                                "/sys/kernel/mm/transparent_hugepage/shmem_enabled` as root permits them",
                                chosen)};
  }
  return {.item = {}, .verdict = Verdict::ok, .text = fmt::format("\"{}\" for windows", chosen)};
}

Finding check_open_files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  constexpr rlim_t kPerRank = 3;  // in `baton run`: two pipes and a pidfd
  const std::string ranks = limit.rlim_max == RLIM_INFINITY
                                ? std::string("any number of ranks")
                                : fmt::format("about {} ranks in one `baton run`", limit.rlim_max / kPerRank);
  return {.item = {},
          .verdict = limit.rlim_max < 512 ? Verdict::limited : Verdict::ok,
          .text = fmt::format("{} now, {} at most (`ulimit -n`): {}", limit_text(limit.rlim_cur),
                              limit_text(limit.rlim_max), ranks)};
}

Finding check_processes() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NPROC, &limit);
  return {.item = {},
          .verdict = limit.rlim_cur < 256 ? Verdict::limited : Verdict::ok,
          .text = fmt::format("{} for this user (`ulimit -u`)", limit_text(limit.rlim_cur))};
}

Finding check_mail_queue() {
  const auto text = read_text_file("/proc/sys/net/unix/max_dgram_qlen");
  if (!text) return {.item = {}, .verdict = Verdict::limited, .text = "the length of Unix mail queues is unknown"};
  const std::string number = text->substr(0, text->find('\n'));
  return {
      .item = {},
      .verdict = Verdict::ok,
      .text = fmt::format("{} messages wait unread before a sender waits (sysctl net.unix.max_dgram_qlen)", number)};
}

}  // namespace

std::vector<Finding> check_limits() {
  return {
      try_out("processors", Need::optional, check_processors), try_out("memory", Need::optional, check_memory),
      try_out("huge pages", Need::optional, check_huge_pages), try_out("open files", Need::optional, check_open_files),
      try_out("processes", Need::optional, check_processes),   try_out("mail queue", Need::optional, check_mail_queue)};
}

}  // namespace baton::cli
