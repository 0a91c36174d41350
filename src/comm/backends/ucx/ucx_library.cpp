#include "comm/backends/ucx/ucx_library.hpp"

#include <cstdlib>

#include "base/fail.hpp"
#include "comm/backends/ucx/ucx_gate.hpp"

namespace baton::ucx {
namespace {

/// What UCX reads from the environment while it is loaded, unless the user has said otherwise.
void change_defaults() {
  constexpr std::pair<const char*, const char*> kDefaults[] = {
      // Handlers for SIGSEGV and SIGBUS would take the place of those that tell which kernel crashed.
      {"UCX_ERROR_SIGNALS", ""},
      {"UCX_HANDLE_ERRORS", "none"},
      // No hooks in mmap() and its like: they keep registered memory, which plain messages do not use.
      {"UCX_MEM_EVENTS", "n"},
      // Above this number of ranks UCX would not take TCP.
      {"UCX_TCP_MAX_NUM_EPS", "inf"},
      // One for each connection that is made or taken: of each host one rank hears from all ranks of the others.
      {"UCX_ASYNC_MAX_EVENTS", "16384"},
      // A payload up to this size follows its header at once, in one piece. Its rendezvous has each side wait for the
      // other, again and again where ranks share processors (docs/investigations/latency-between-hosts.md).
      {"UCX_RNDV_THRESH", "1m"},
      {"UCX_TCP_RX_SEG_SIZE", "576k"},
      {"UCX_TCP_TX_SEG_SIZE", "64k"},
      // A host that does not answer must not hold up what is said to others.
      {"UCX_TCP_CONN_NB", "y"},
      {"UCX_WARN_UNUSED_ENV_VARS", "n"},
      // What fails is told in the words of Baton.
      {"UCX_LOG_LEVEL", "fatal"},
  };
  for (const auto& [name, value] : kDefaults) ::setenv(name, value, 0);
}

UcxLibrary load() {
  change_defaults();
  try {
    const SharedLibrary file = SharedLibrary::of_system("libucp.so.0", Code::unsupported);
    return {file,
#define BATON_UCX_FIND(name) file.required<decltype(::name)>(#name),
            BATON_UCX_FUNCTIONS(BATON_UCX_FIND)
#undef BATON_UCX_FIND
    };
  } catch (const Error& error) {
    throw Error(Code::unsupported, "ranks of several hosts need UCX, which cannot be loaded here",
                {error.message(), "on Debian: apt-get install libucx0"});
  }
}

UcxLibrary load_guarded() {
  UcxLibrary library = load();
  // A function of the part of UCX that has its sockets.
  guard_sockets(reinterpret_cast<const void*>(library.ucs_status_string));
  return library;
}

}  // namespace

const UcxLibrary& ucx_library() {
  // Its threads and handlers may outlive everything else of this program.
  static const UcxLibrary& library = *new UcxLibrary(load_guarded());
  return library;
}

}  // namespace baton::ucx
