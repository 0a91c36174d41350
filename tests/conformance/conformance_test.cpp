// One suite for every backend: each scenario runs with ranks as threads, as fibers of one and of two threads, and as
// processes.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/rank_program.hpp"
#include "support/scenario_run.hpp"

namespace baton::test {
namespace {

struct Case {
  const Scenario* scenario;
  int size;
};

std::vector<Case> cases_of(Hosting hosting) {
  std::vector<Case> cases;
  for (const Scenario& scenario : scenarios()) {
    const std::vector<Hosting>& hostings = scenario.wishes.hostings;
    if (std::find(hostings.begin(), hostings.end(), hosting) == hostings.end()) continue;
    for (const int size : scenario.wishes.sizes) cases.push_back({&scenario, size});
  }
  return cases;
}

/// Registers one test per case, so that ctest and filters see them by name: Processes.PutAndGet_4.
void register_cases(Hosting hosting) {
  class Run : public testing::Test {
   public:
    Run(Case one, Hosting hosting) : one_(one), hosting_(hosting) {}
    void TestBody() override { EXPECT_TRUE(run_scenario(*one_.scenario, hosting_, one_.size)); }

   private:
    Case one_;
    Hosting hosting_;
  };
  for (const Case& one : cases_of(hosting)) {
    const std::string name = one.scenario->name + "_" + std::to_string(one.size);
    testing::RegisterTest(std::string(name_of(hosting)).c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [one, hosting]() -> Run* { return new Run(one, hosting); });
  }
}

}  // namespace
}  // namespace baton::test

int main(int argument_count, char** arguments) {
  if (const int code = baton::test::run_as_rank(argument_count, arguments); code >= 0) return code;
  testing::InitGoogleTest(&argument_count, arguments);
  using baton::test::Hosting;
  for (const Hosting hosting :
       {Hosting::threads, Hosting::one_fiber_thread, Hosting::two_fiber_threads, Hosting::processes, Hosting::hosts}) {
    baton::test::register_cases(hosting);
  }
  return RUN_ALL_TESTS();
}
