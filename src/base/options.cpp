#include <baton/options.hpp>

#include <algorithm>
#include <iterator>

#include "base/edit_distance.hpp"
#include "base/environment.hpp"
#include "base/log.hpp"
#include "base/option_table.hpp"
#include "base/option_values.hpp"
#include "base/quote.hpp"

namespace baton {
namespace {

constexpr std::string_view kPrefix = "BATON_";

/// A variable and how its text reaches its field.
struct Row {
  OptionInfo info;
  void (*read)(Options& options, const OptionInfo& info, std::string_view text);
};

constexpr Row kOptions[] = {
    {{"BATON_WAIT_TIMEOUT", kDurationForm, "30s", "How long a wait may take before it is an error."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.wait_timeout = parse_duration(i.name, text); }},
    {{"BATON_KERNEL_TIMEOUT", kDurationForm, "",
      "How long a kernel, or a host function of a node, may run before it is ended, which is an error; 0: as long as "
      "it "
      "likes. Without it, four times BATON_WAIT_TIMEOUT."},
     [](Options& o, const OptionInfo& i, std::string_view text) {
       o.kernel_timeout = text == "0" ? std::chrono::nanoseconds(0) : parse_duration(i.name, text);
     }},
    {{"BATON_JOIN_TIMEOUT", kDurationForm, "30s", "How long the ranks of a job wait for each other to arrive."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.join_timeout = parse_duration(i.name, text); }},
    {{"BATON_HELLO_TIMEOUT", kDurationForm, "60s",
      "How long a connection from another host may take to show that it belongs to the job."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.hello_timeout = parse_duration(i.name, text); }},
    {{"BATON_LOG", kLogLevelForm, "warn", "The least level of the lines that the log writes to standard error."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.log = parse_log_level(i.name, text); }},
    {{"BATON_BACKEND", "the name of a backend: shm or inproc", "shm", "The backend of a rendezvous that names none."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.backend = parse_name(i.name, text, i.form); }},
    {{"BATON_PROCESSORS", "a number, 1 or more", "",
      "How many processors the ladder of waiting counts on; without it, those that this process may use."},
     [](Options& o, const OptionInfo& i, std::string_view text) {
       o.processors = parse_integer(i.name, text, 1, i.form);
     }},
    {{"BATON_COLLECTIVE", "pairs such as allreduce:ring, separated by commas", "",
      "Which algorithm an operation uses, whatever its size; without it, the table of measurements decides."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.collective = parse_name(i.name, text, i.form); }},
    {{"BATON_COLLECTIVE_TABLE", "a file", "",
      "Which algorithms are fastest on this machine, as `baton tune` writes it; without it, what Baton came with."},
     [](Options& o, const OptionInfo& i, std::string_view text) {
       o.collective_table = parse_name(i.name, text, i.form);
     }},
    {{"BATON_CXX", "a program on the PATH or a path, and words to put behind it", "",
      "The C++ compiler of kernels; without it, the first of c++, g++ and clang++ on the PATH."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.compiler = parse_name(i.name, text, i.form); }},
    {{"BATON_NVCC", "a program on the PATH or a path", "",
      "The compiler of kernels for NVIDIA GPUs; without it, the nvcc on the PATH or in its usual folder."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.nvcc = parse_name(i.name, text, i.form); }},
    {{"BATON_CUDA_ARCH", "a name such as sm_90a", "sm_90a",
      "The generation of NVIDIA GPUs that kernels are compiled for."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.cuda_arch = parse_name(i.name, text, i.form); }},
    {{"BATON_GPU_STAY", kDurationForm, "0",
      "How long cores of an NVIDIA GPU wait for more to do before they leave it (0.5ms); 0: each run starts them anew, "
      "and tasks run when all are submitted."},
     [](Options& o, const OptionInfo& i, std::string_view text) {
       o.gpu_stay = text == "0" ? std::chrono::nanoseconds(0) : parse_duration(i.name, text);
     }},
    {{"BATON_INCLUDE_DIR", "a folder", "",
      "The folder with the headers of kernels; without it, the one that this Baton came with."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.include_dir = parse_name(i.name, text, i.form); }},
    {{"BATON_COMPILE_TIMEOUT", kDurationForm, "5m", "How long the compiler may take for one kernel."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.compile_timeout = parse_duration(i.name, text); }},
    {{"BATON_CACHE_DIR", "a folder", "",
      "Where compiled kernels are kept; without it, `$XDG_CACHE_HOME/baton` or `~/.cache/baton`."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.cache_dir = parse_name(i.name, text, i.form); }},
    {{"BATON_CACHE_SIZE", kBytesForm, "1GiB",
      "How large the cache of kernels may grow before those that were not used for longest are removed."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.cache_bytes = parse_bytes(i.name, text); }},
    {{"BATON_PIPES", kPipeOrderForm, "program",
      "Which order simulated cores, and kernels that are compiled for GPUs, keep between pipes: that of the source, or "
      "only "
      "what flags and barriers promise."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.pipes = parse_pipe_order(i.name, text); }},
    {{"BATON_IN_PLACE", kInPlaceForm, "auto",
      "Which tasks the thread of an orchestration runs itself: those that are shorter than their way to another "
      "thread, "
      "none, or all that run on one vector core while nothing else is in flight."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.in_place = parse_in_place(i.name, text); }},
    {{"BATON_SEED", "a number, 0 or more", "",
      "Simulated chips choose by it what a chip leaves open: who runs next, when copies and notifications arrive."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.seed = parse_seed(i.name, text, i.form); }},
    {{"BATON_EVENTS", "a file", "",
      "Where simulated chips write what happens on them, a line each; a rank of `baton run` appends its number."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.events = parse_name(i.name, text, i.form); }},
    {{"BATON_TASK_WINDOW", "a number, 1 or more", "1024",
      "How many tasks of a chip may be in flight, deferred ones not counted, before the orchestration waits."},
     [](Options& o, const OptionInfo& i, std::string_view text) {
       o.task_window = static_cast<std::uint64_t>(parse_integer(i.name, text, 1, i.form));
     }},
    {{"BATON_OUTPUT_HEAP", kBytesForm, "256MiB", "Memory of a chip for the outputs that its runtime allocates."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.output_heap_bytes = parse_bytes(i.name, text); }},
    {{"BATON_DUMP", "a folder", "",
      "Where chips write the tensors that graphs dump, as files of NumPy's; without it, nothing is written."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.dump = parse_name(i.name, text, i.form); }},
    {{"BATON_PROFILE", kProfileForm, "off",
      "Times of tasks: a table when a chip ends, or a file of records (a rank of `baton run` appends its number)."},
     [](Options& o, const OptionInfo& i, std::string_view text) {
       o.profile = parse_profile(i.name, text);
       if (o.profile == "off") o.profile.reset();
     }},
    {{"BATON_TRACE", kTraceForm, "last",
      "What is recorded of what happens: nothing; the last events, in memory; or all of it, to a file for `baton "
      "trace`."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.trace = parse_trace(i.name, text); }},
    {{"BATON_CHECK", kCheckForm, "off",
      "Whether a trace has, in place of all else, what `baton check` needs to find races: every access, and what "
      "orders it. Set by it."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.check = parse_check(i.name, text); }},
    {{"BATON_HOSTS", "hosts such as a:4,b:4", "", "The hosts of a node whose program names none: its chips run there."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.hosts = parse_name(i.name, text, i.form); }},
    {{"BATON_LAUNCH_AGENT", "a command with {host}", "ssh -o BatchMode=yes {host}",
      "What runs a command on another host."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.launch_agent = parse_name(i.name, text, i.form); }},
    {{"BATON_INTERFACE", "the name of a network interface", "",
      "The network on which other hosts reach this one; without it, any."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.interface = parse_name(i.name, text, i.form); }},
    // Of the next two join() reads for itself what it needs: options are shown, a token is not.
    {{"BATON_JOB_TOKEN", "64 hexadecimal digits", "",
      "The secret of a job on several hosts that mpirun, srun or torchrun started: equal at all its ranks."},
     [](Options&, const OptionInfo& i, std::string_view text) { static_cast<void>(parse_name(i.name, text, i.form)); }},
    {{"BATON_MEET", "a host, or a host and a port such as node1:4711", "",
      "The host of rank 0 of such a job; without it, what its launcher says."},
     [](Options&, const OptionInfo& i, std::string_view text) { static_cast<void>(parse_name(i.name, text, i.form)); }},
    {{"BATON_REMOTE_BATON", "a path", "", "Where `baton` is on other hosts; without it, where it is here."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.remote_baton = parse_name(i.name, text, i.form); }},
    {{"BATON_RANK", "a number, 0 or more", "", "Which rank this process is. Set by `baton run`."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.rank = parse_integer(i.name, text, 0, i.form); }},
    {{"BATON_SIZE", "a number, 1 or more", "", "How many ranks the job has. Set by `baton run`."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.size = parse_integer(i.name, text, 1, i.form); }},
    {{"BATON_JOB", "a rendezvous", "", "Where the ranks of the job meet. Set by `baton run`."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.job = parse_name(i.name, text, i.form); }},
    {{"BATON_LAUNCHER", "a socket", "", "Where `baton run` learns of the job's control segment. Set by `baton run`."},
     [](Options& o, const OptionInfo& i, std::string_view text) { o.launcher = parse_name(i.name, text, i.form); }},
    // Of these join() reads for itself what it needs.
    {{"BATON_AGENT", "a socket", "", "Where the agent of this host is. Set by `baton run --hosts`."},
     [](Options&, const OptionInfo& i, std::string_view text) { static_cast<void>(parse_name(i.name, text, i.form)); }},
    {{"BATON_HOST_COUNT", "a number, 1 or more", "", "How many hosts the job is on. Set by `baton run --hosts`."},
     [](Options&, const OptionInfo& i, std::string_view text) {
       static_cast<void>(parse_integer(i.name, text, 1, i.form));
     }},
};

// Runs inside the initialisation of options(): it sets the log's threshold before it writes, so that the log does not
// ask options() for it.
Options read_and_warn() {
  std::vector<std::string> unknown;
  Options read = Options::from(environment_of_this_process(), &unknown);
  log::set_threshold(read.log);
  for (const std::string& name : unknown) log::warn("{}", unknown_variable_message(name));
  return read;
}

}  // namespace

Options Options::from(const std::vector<std::string>& environment, std::vector<std::string>* unknown) {
  Options options;
  bool seen[std::size(kOptions)] = {};
  for (const std::string_view entry : environment) {
    const auto equals = entry.find('=');
    if (!entry.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    const std::string_view name = entry.substr(0, equals);
    const Row* row = std::ranges::find(kOptions, name, [](const Row& r) { return r.info.name; });
    if (row == std::end(kOptions)) {
      if (unknown != nullptr && std::ranges::find(*unknown, name) == unknown->end()) unknown->emplace_back(name);
      continue;
    }
    // Of two entries with one name the first counts, as it does for getenv().
    bool& row_seen = seen[row - std::begin(kOptions)];
    if (!row_seen) row->read(options, row->info, entry.substr(equals + 1));
    row_seen = true;
  }
  return options;
}

std::chrono::nanoseconds Options::kernel_limit() const noexcept {
  constexpr int kWaits = 4;
  // A wait without end in sight asks for kernels without one.
  const bool endless = wait_timeout > std::chrono::nanoseconds::max() / kWaits;
  return kernel_timeout.value_or(endless ? std::chrono::nanoseconds(0) : kWaits * wait_timeout);
}

Options Options::from_environment() { return from(environment_of_this_process()); }

const Options& options() {
  static const Options value = read_and_warn();
  return value;
}

const std::vector<OptionInfo>& option_table() {
  static const std::vector<OptionInfo> table = [] {
    std::vector<OptionInfo> rows;
    for (const Row& row : kOptions) rows.push_back(row.info);
    return rows;
  }();
  return table;
}

std::string unknown_variable_message(std::string_view name) {
  std::string_view nearest;
  std::size_t least = name.size();
  for (const OptionInfo& info : option_table()) {
    const std::size_t distance = edit_distance(name, info.name);
    // A third of the letters after the prefix: a typo or two, not another word.
    const std::size_t near = std::max<std::size_t>(1, (info.name.size() - kPrefix.size()) / 3);
    if (distance <= near && distance < least) {
      least = distance;
      nearest = info.name;
    }
  }
  std::string message = fmt::format("{} is not a variable of Baton", printable(name));
  if (!nearest.empty()) message += fmt::format("; did you mean {}?", nearest);
  return message;
}

}  // namespace baton
