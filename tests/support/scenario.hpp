// Scenarios: what the ranks of a job do together in a test, once per rank. The same scenario runs on every backend.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <baton/domain.hpp>

namespace baton::test {

/// What ranks are in a test run.
/// `hosts`: processes on several hosts.
enum class Hosting : std::uint8_t { threads, one_fiber_thread, two_fiber_threads, processes, hosts };

[[nodiscard]] std::string_view name_of(Hosting hosting) noexcept;
[[nodiscard]] Hosting hosting_of(std::string_view name);

/// A rank that has not joined yet.
struct Newcomer {
  int rank;
  int size;
  std::string rendezvous;  // with the backend before it
};

/// How a scenario wants to be run.
struct Wishes {
  std::vector<int> sizes = {4};
  /// BATON_WAIT_TIMEOUT and BATON_JOIN_TIMEOUT of its ranks.
  std::string wait_timeout = "60s";
  std::string join_timeout = "60s";
  std::vector<Hosting> hostings = {Hosting::threads, Hosting::one_fiber_thread, Hosting::two_fiber_threads,
                                   Hosting::processes, Hosting::hosts};
};

/// For what needs pointers to the parts of all ranks.
inline const std::vector<Hosting> kOneHost = {Hosting::threads, Hosting::one_fiber_thread, Hosting::two_fiber_threads,
                                              Hosting::processes};

struct Scenario {
  std::string name;
  Wishes wishes;
  void (*body)(Domain me) = nullptr;  // one of the two
  void (*body_before_join)(Newcomer me) = nullptr;
};

/// All of this program, in the order of their files.
[[nodiscard]] const std::vector<Scenario>& scenarios();
[[nodiscard]] const Scenario& scenario_named(std::string_view name);

/// Ends the scenario on this rank: it shows nothing on this machine, and `why` says so. Every rank must come here.
[[noreturn]] void skip_scenario(std::string why);

/// What skip_scenario() throws.
struct ScenarioSkipped {
  std::string why;
};
/// The exit code of a rank that skipped.
inline constexpr int kSkippedExitCode = 77;

/// For the macros below.
bool add_scenario(Scenario scenario);

}  // namespace baton::test

/// SCENARIO(Name, {wishes}) { ... } : the body of each rank, which has joined as `me`.
#define SCENARIO(name, ...)                                                                              \
  static void name(::baton::Domain me);                                                                  \
  static const bool name##_is_added = ::baton::test::add_scenario({#name, __VA_ARGS__, &name, nullptr}); \
  static void name([[maybe_unused]] ::baton::Domain me)

/// The same for ranks that join by themselves.
#define SCENARIO_BEFORE_JOIN(name, ...)                                                                  \
  static void name(::baton::test::Newcomer me);                                                          \
  static const bool name##_is_added = ::baton::test::add_scenario({#name, __VA_ARGS__, nullptr, &name}); \
  static void name([[maybe_unused]] ::baton::test::Newcomer me)
