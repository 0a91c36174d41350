// Kernels between ranks, and windows of their chips: each scenario with ranks as threads, as fibers of one and of two
// threads, as processes, and as processes on several hosts, as far as the platform of the chips can have them.
// `kernel_suite join SCENARIO` runs one as a rank of whatever started it.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include <baton/join.hpp>

#include "kernel_platform.hpp"
#include "support/rank_program.hpp"

namespace baton::test {
namespace {

/// One test per scenario, kind of rank and number of ranks, by name: Processes.AllToAll_4.
void register_test(const Scenario& scenario, Hosting hosting, int size) {
  class Run : public testing::Test {
   public:
    Run(const Scenario& scenario, Hosting hosting, int size) : scenario_(scenario), hosting_(hosting), size_(size) {}
    void TestBody() override { EXPECT_TRUE(run_on_chips(scenario_, hosting_, size_)); }

   private:
    const Scenario& scenario_;
    Hosting hosting_;
    int size_;
  };
  const std::string name = scenario.name + "_" + std::to_string(size);
  testing::RegisterTest(std::string(name_of(hosting)).c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                        [&scenario, hosting, size]() -> Run* { return new Run(scenario, hosting, size); });
}

int run_joined(std::string_view name) {
  try {
    scenario_named(name).body(join());
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

}  // namespace
}  // namespace baton::test

int main(int argument_count, char** arguments) {
  using namespace baton::test;
  if (argument_count == 3 && std::string_view(arguments[1]) == "join") return run_joined(arguments[2]);
  if (const int code = run_as_rank(argument_count, arguments); code >= 0) return code;
  testing::InitGoogleTest(&argument_count, arguments);
  for (const Hosting hosting : possible_hostings()) {
    for (const Scenario& scenario : scenarios()) {
      if (std::ranges::find(scenario.wishes.hostings, hosting) == scenario.wishes.hostings.end()) continue;
      for (const int size : possible_sizes(scenario.wishes, hosting)) register_test(scenario, hosting, size);
    }
  }
  return RUN_ALL_TESTS();
}
