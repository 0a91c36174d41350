#include "explore.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine.hpp"
#include "search.hpp"

namespace baton::model {
namespace {

/// Effort to find a failure that is easier to read than the first one found.
constexpr int kMaxPreemptionsShown = 6;
constexpr std::size_t kMaxStatesPerAttempt = 200'000;

const char* name_of(Violation violation) {
  switch (violation) {
    case Violation::deadlock: return "deadlock";
    case Violation::race: return "race";
    case Violation::requirement: return "requirement";
    case Violation::exception: return "exception";
    case Violation::endless: return "endless";
    case Violation::too_large: return "too large";
    case Violation::nondeterministic: return "not deterministic";
  }
  return "?";
}

bool can_be_shortened(Violation violation) {
  return violation == Violation::deadlock || violation == Violation::race || violation == Violation::requirement ||
         violation == Violation::exception;
}

/// The failure with the fewest preemptions, and of those the shortest.
std::optional<Failure> easiest_failure(const MakeScenario& make_scenario, const Options& options) {
  for (int preemptions = 0; preemptions <= kMaxPreemptionsShown; ++preemptions) {
    Options bounded = options;
    bounded.preemptions = preemptions;
    bounded.max_states = kMaxStatesPerAttempt;
    Report ignored;
    Search search(make_scenario, bounded, AfterFailure::shorten);
    search.run(ignored);
    if (search.failed()) return search.describe();
  }
  return std::nullopt;
}

}  // namespace

Report explore(const std::string& name, const MakeScenario& make_scenario, const Options& options) {
  Report report;
  report.name = name;
  Search search(make_scenario, options, AfterFailure::stop);
  search.run(report);
  if (search.failed()) {
    report.failure = search.describe();
    if (can_be_shortened(report.failure->violation)) {
      if (auto easier = easiest_failure(make_scenario, options)) report.failure = std::move(easier);
    }
  }
  fmt::print("[ explored ] {}: {} executions, {} states, at most {} steps{}{}\n", name, report.executions,
             report.states, report.longest,
             options.preemptions ? fmt::format(", at most {} preemptions", *options.preemptions) : "",
             report.failure ? fmt::format("; {}", name_of(report.failure->violation)) : "");
  return report;
}

std::string Report::text() const {
  if (!failure) return name + ": no violation";
  std::string text = fmt::format("{}: {}: {}\n", name, name_of(failure->violation), failure->text);
  for (const std::string& step : failure->steps) text += "  " + step + "\n";
  return text;
}

void require(bool holds, const char* what) {
  Engine& engine = Engine::current();
  if (!holds) engine.fail(Violation::requirement, fmt::format("not so: {}", what));
}

void observe(std::uint64_t value) { Engine::current().observe(value); }

std::uint64_t choose(std::uint64_t count) {
  return Engine::current().perform({.kind = Kind::choose, .operand = count}).value;
}

void pause() { Engine::current().perform({.kind = Kind::pause}); }

Ending wait_for_end(Thread thread) {
  return static_cast<Ending>(Engine::current().perform({.kind = Kind::wait_for_end, .operand = thread}).value);
}

Thread current_thread() { return Engine::current().running(); }

void expect_holds(const Report& report) { EXPECT_FALSE(report.failure.has_value()) << report.text(); }

void expect_violation(const Report& report, Violation violation) {
  ASSERT_TRUE(report.failure.has_value()) << report.name << ": every execution is right, though one should not be";
  EXPECT_EQ(report.failure->violation, violation) << report.text();
  fmt::print("{}", report.text());
}

}  // namespace baton::model
