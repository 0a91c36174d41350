// Everything that can be set from outside, in one place.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <baton/export.hpp>
#include <baton/in_place.hpp>

namespace baton {

/// How loud the log is.
enum class LogLevel { trace, debug, info, warn, error, off };

/// Which order a simulated core keeps between its pipes.
enum class PipeOrder {
  program,  // that of the kernel's source: kinder than a chip
  strict,   // what flags and barriers promise and no other: a kernel that relies on more is an error
};

/// The environment variables Baton reads. Each field names its variable; docs/reference/options.md lists them.
struct BATON_API Options {
  /// BATON_WAIT_TIMEOUT: how long a wait may take before it is an error. "30", "30s", "500ms", "2m".
  std::chrono::nanoseconds wait_timeout = std::chrono::seconds(30);
  /// BATON_KERNEL_TIMEOUT: how long a kernel, or a host function of a node, may run before it is ended, which is an
  /// error. 0: as long as it likes. Default: four times wait_timeout.
  std::optional<std::chrono::nanoseconds> kernel_timeout;
  /// BATON_JOIN_TIMEOUT: how long the ranks of a job wait for each other to arrive.
  std::chrono::nanoseconds join_timeout = std::chrono::seconds(30);
  /// BATON_HELLO_TIMEOUT: how long a connection from another host may take to show that it belongs to the job.
  std::chrono::nanoseconds hello_timeout = std::chrono::seconds(60);
  /// BATON_LOG: trace, debug, info, warn, error, off.
  LogLevel log = LogLevel::warn;
  /// BATON_BACKEND: the backend of a rendezvous that names none: shm or inproc.
  std::string backend = "shm";
  /// BATON_PROCESSORS: how many processors the ladder of waiting counts on; default: those this process may use.
  std::optional<int> processors;

  /// BATON_COLLECTIVE: how collectives are done: pairs such as "allreduce:ring,broadcast:tree"; others by their size.
  std::string collective;
  /// BATON_COLLECTIVE_TABLE: a file that `baton tune` wrote: which algorithms are fastest on this machine.
  std::optional<std::string> collective_table;

  /// BATON_CXX: the C++ compiler of kernels; default: the first of c++, g++ and clang++ on the PATH.
  std::optional<std::string> compiler;
  /// BATON_NVCC: the compiler of kernels for NVIDIA GPUs; default: the nvcc on the PATH, or in its usual folder.
  std::optional<std::string> nvcc;
  /// BATON_CUDA_ARCH: the generation of NVIDIA GPUs that kernels are compiled for.
  std::string cuda_arch = "sm_90a";
  /// BATON_GPU_STAY: how long cores of an NVIDIA GPU wait for more to do before they leave it. 0: they do not wait.
  std::chrono::nanoseconds gpu_stay{0};
  /// BATON_INCLUDE_DIR: the folder with the headers of kernels; default: the one this Baton came with.
  std::optional<std::string> include_dir;
  /// BATON_COMPILE_TIMEOUT: how long the compiler may take for one kernel.
  std::chrono::nanoseconds compile_timeout = std::chrono::minutes(5);
  /// BATON_CACHE_DIR: where compiled kernels are kept; default: $XDG_CACHE_HOME/baton or ~/.cache/baton.
  std::optional<std::string> cache_dir;
  /// BATON_CACHE_SIZE: how large the cache of kernels may grow. "500MiB", "2GiB".
  std::uint64_t cache_bytes = std::uint64_t{1} << 30U;

  /// BATON_PIPES: program or strict.
  PipeOrder pipes = PipeOrder::program;
  /// BATON_IN_PLACE: auto, never or always.
  InPlace in_place = InPlace::automatic;
  /// BATON_SEED: simulated chips choose by it what a chip leaves open: who runs next, when copies and notifications
  /// arrive.
  std::optional<std::uint64_t> seed;
  /// BATON_EVENTS: the file to which simulated chips write what happens on them.
  std::optional<std::string> events;

  /// BATON_TASK_WINDOW: how many tasks of a chip may be in flight before the orchestration waits.
  std::uint64_t task_window = 1024;
  /// BATON_OUTPUT_HEAP: memory of a chip for the outputs that its runtime allocates. "256MiB".
  std::uint64_t output_heap_bytes = std::uint64_t{256} << 20U;

  /// BATON_DUMP: the folder into which chips write what Graph::dump() names. Without it: nothing is written.
  std::optional<std::string> dump;
  /// BATON_PROFILE: nothing for "off", "summary", or the file to which chips write a record of each task.
  std::optional<std::string> profile;

  /// BATON_TRACE: "off", "last" (the last events, in memory) or the file to which all processes of a run write events.
  std::string trace = "last";
  /// BATON_CHECK: on or off: a trace has what `baton check` needs to find races. Set by it.
  bool check = false;

  /// BATON_HOSTS: the hosts of a node whose program names none: "a:4,b:4".
  std::optional<std::string> hosts;
  /// BATON_LAUNCH_AGENT: what runs a command on {host}, instead of ssh.
  std::optional<std::string> launch_agent;
  /// BATON_INTERFACE: the network on which other hosts reach this one; default: any.
  std::optional<std::string> interface;
  /// BATON_REMOTE_BATON: where `baton` is on other hosts; default: where it is here.
  std::optional<std::string> remote_baton;

  /// BATON_RANK, BATON_SIZE, BATON_JOB: set by `baton run`: which rank this is, of how many, and where they meet.
  std::optional<int> rank;
  std::optional<int> size;
  std::optional<std::string> job;
  /// BATON_LAUNCHER: set by `baton run`: the socket on which it learns of the job's control segment.
  std::optional<std::string> launcher;

  /// The limit of kernels: kernel_timeout or its default. 0: none.
  [[nodiscard]] std::chrono::nanoseconds kernel_limit() const noexcept;

  /// Reads the environment of this process. Throws Error (bad_option) that names a malformed variable.
  static Options from_environment();

  /// Reads `environment`, entries of the form NAME=value. `unknown`, if given, receives BATON_* names that no field
  /// has.
  static Options from(const std::vector<std::string>& environment, std::vector<std::string>* unknown = nullptr);
};

/// The options of this process: the environment, read once at first use, with a warning for each unknown BATON_* name.
[[nodiscard]] BATON_API const Options& options();

}  // namespace baton
