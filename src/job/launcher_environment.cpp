#include "job/launcher_environment.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>

#include "base/fail.hpp"
#include "base/quote.hpp"
#include "job/ancestor.hpp"

namespace baton::job {
namespace {

/// How one launcher tells its processes where they are.
struct Dialect {
  std::string_view launcher;
  std::string_view rank;
  std::string_view size;
  std::string_view local_size;               // ranks on this host; empty: not told
  std::string_view host_count;               // hosts of the job; empty: not told
  std::array<std::string_view, 3> identity;  // variables that together name the job; empty: unused
  std::string_view also_needed;              // must be set for the dialect to apply; empty: nothing
  std::string_view agent = "";               // where ranks of several hosts meet; empty: not told
  std::string_view root = "";                // the host of rank 0, or a list that begins with it; empty: not told
};

constexpr std::array<Dialect, 5> kDialects = {{
    {"baton run", "BATON_RANK", "BATON_SIZE", "", "BATON_HOST_COUNT", {"BATON_JOB", "", ""}, "", "BATON_AGENT"},
    {"mpirun (Open MPI)",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     "",
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", ""},
     ""},
    {"srun",
     "SLURM_PROCID",
     "SLURM_STEP_NUM_TASKS",
     "",
     "SLURM_STEP_NUM_NODES",
     {"SLURM_JOB_ID", "SLURM_STEP_ID", ""},
     "SLURM_STEP_ID",
     "",
     "SLURM_STEP_NODELIST"},
    {"mpirun (MPICH)", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "", {"PMI_JOBID", "", ""}, ""},
    {"torchrun",
     "RANK",
     "WORLD_SIZE",
     "LOCAL_WORLD_SIZE",
     "",
     {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_PORT"},
     "MASTER_PORT",
     "",
     "MASTER_ADDR"},
}};

int read_number(const Dialect& dialect, std::string_view name, const std::string& text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < 0) {
    fail(Code::bad_launcher_environment, "{} set {}={}, which is not a number of a rank or of ranks", dialect.launcher,
         name, quote(text));
  }
  return value;
}

/// Whether some ranks are on other hosts; then where they meet.
void read_hosts(const Dialect& dialect, const Environment& environment, Assignment& assignment) {
  const auto value_of = [&](std::string_view name) { return name.empty() ? std::nullopt : environment(name); };
  if (const auto local = value_of(dialect.local_size))
    assignment.several_hosts = read_number(dialect, dialect.local_size, *local) != assignment.size;
  if (const auto hosts = value_of(dialect.host_count))
    assignment.several_hosts = read_number(dialect, dialect.host_count, *hosts) > 1;
  if (!assignment.several_hosts) return;
  assignment.agent = value_of(dialect.agent).value_or("");
  if (!dialect.agent.empty() && assignment.agent.empty())
    fail(Code::unsupported, "{} spread the job over several hosts ({}={}), but set no {}", dialect.launcher,
         dialect.host_count, value_of(dialect.host_count).value_or(""), dialect.agent);
  assignment.root = first_of_host_list(value_of(dialect.root).value_or(""));
  if (const auto asked_for = environment("BATON_MEET")) {
    assignment.root = *asked_for;
    assignment.root_is_asked_for = true;
  }
}

/// A name for the job that no other job of this user has.
std::string identity_of(const Dialect& dialect, const Environment& environment, const LauncherProcess& launcher_process,
                        const Assignment& assignment) {
  std::string identity;
  for (const std::string_view name : dialect.identity) {
    if (name.empty()) continue;
    if (const auto value = environment(name)) identity += "/" + *value;
  }
  // On several hosts there is no process that all ranks have above them; their token tells one job from another.
  if (identity.empty() && !assignment.several_hosts) {
    const auto process = launcher_process();
    if (!process) {
      fail(Code::bad_launcher_environment,
           "{} gave this process no job name (none of {} is set), and its process is not found", dialect.launcher,
           dialect.identity[0]);
    }
    identity = "/" + *process;
  }
  return fmt::format("{}{}", dialect.launcher, identity);
}

std::optional<Assignment> read_dialect(const Dialect& dialect, const Environment& environment,
                                       const LauncherProcess& launcher_process) {
  const auto rank = environment(dialect.rank);
  const auto size = environment(dialect.size);
  if ((!rank && !size) || (!dialect.also_needed.empty() && !environment(dialect.also_needed))) return std::nullopt;
  if (!rank || !size) {
    fail(Code::bad_launcher_environment, "{} is set but {} is not; {} sets both", rank ? dialect.rank : dialect.size,
         rank ? dialect.size : dialect.rank, dialect.launcher);
  }
  Assignment assignment;
  assignment.launcher = dialect.launcher;
  assignment.rank = read_number(dialect, dialect.rank, *rank);
  assignment.size = read_number(dialect, dialect.size, *size);
  if (assignment.rank >= assignment.size) {
    fail(Code::bad_launcher_environment, "{}={} is not a rank of {}={}", dialect.rank, assignment.rank, dialect.size,
         assignment.size);
  }
  read_hosts(dialect, environment, assignment);
  assignment.rendezvous = identity_of(dialect, environment, launcher_process, assignment);
  return assignment;
}

}  // namespace

std::string first_of_host_list(std::string_view list) {
  std::string name;
  for (std::size_t i = 0; i < list.size() && list[i] != ','; ++i) {
    if (list[i] != '[') {
      name += list[i];
      continue;
    }
    const std::size_t end = list.find(']', i);
    // Of "01-03,7" the first number.
    name += list.substr(i + 1, list.find_first_of("-,]", i + 1) - i - 1);
    if (end == std::string_view::npos) break;
    i = end;
  }
  return name;
}

std::optional<Assignment> find_assignment(const Environment& environment, const LauncherProcess& launcher_process) {
  for (const Dialect& dialect : kDialects) {
    if (auto assignment = read_dialect(dialect, environment, launcher_process)) return assignment;
  }
  return std::nullopt;
}

std::optional<Assignment> find_assignment() {
  return find_assignment(
      [](std::string_view name) -> std::optional<std::string> {
        const char* value = std::getenv(std::string(name).c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
      },
      [] { return launcher_ancestor(); });
}

}  // namespace baton::job
