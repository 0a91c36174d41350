#include "cli/doctor/findings.hpp"
#include "job/shm_probe.hpp"

namespace baton::cli {
namespace {

/// For a probe that throws if something is missing.
Finding check(std::string item, void (*probe)(), std::string meaning) {
  return try_out(std::move(item), Need::essential, [&] {
    probe();
    return Finding{.item = {}, .verdict = Verdict::ok, .text = meaning};
  });
}

Finding check_death() {
  switch (job::probe_death()) {
    case job::DeathNews::how_it_was:
      return {.item = {}, .verdict = Verdict::ok, .text = "a rank's death is seen at once, and how it ended"};
    case job::DeathNews::that_it_is:
      return {.item = {},
              .verdict = Verdict::limited,
              .text = "a rank's death is seen at once, but without `baton run` not how it ended (Linux 6.15 tells)"};
    case job::DeathNews::none: break;
  }
  return {.item = {}, .verdict = Verdict::missing, .text = "no pidfd: `baton run` needs Linux 5.3 or later"};
}

Finding check_reading() {
  if (job::probe_reading())
    return {.item = {},
            .verdict = Verdict::ok,
            .text = "ranks may read and write each other's memory: private data can be copied once"};
  return {.item = {},
          .verdict = Verdict::limited,
          .text =
              "ranks may not read and write each other's memory: collectives copy private data twice (sysctl "
              "kernel.yama.ptrace_scope, or a filter of system calls)"};
}

}  // namespace

std::vector<Finding> check_backends() {
  return {
      Finding{
          .item = "inproc", .verdict = Verdict::ok, .text = "ranks are fibers of one process", .need = Need::essential},
      check("shm: memfd", job::probe_memory, "windows are memory without a name, sealed against shrinking"),
      check("shm: sockets", job::probe_mail, "ranks hand each other memory over abstract Unix sockets"),
      check("shm: futex", job::probe_futex, "a rank that waits sleeps, and its peers wake it"),
      try_out("shm: pidfd", Need::essential, check_death),
      try_out("shm: reading", Need::optional, check_reading)};
}

}  // namespace baton::cli
