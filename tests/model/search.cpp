#include "search.hpp"

#include <algorithm>
#include <utility>

namespace baton::model {

Search::Search(const MakeScenario& make_scenario, const Options& options, AfterFailure after)
    : options_(options),
      after_(after),
      may_sleep_(!options.preemptions && options.reduction == Reduction::all),
      engine_(make_scenario, options),
      max_steps_(options.max_steps) {}

void Search::run(Report& report) {
  do {
    ++report.executions;
    run_once(report);
  } while (!exhausted_ && (std::exchange(again_, false) || next_choices()));
}

void Search::start_again(Report& report) {
  report.states = 0;
  known_.clear();
  points_.clear();
  again_ = true;
}

void Search::run_once(Report& report) {
  engine_.begin();
  for (std::size_t depth = 0;; ++depth) {
    if (engine_.trouble()) {
      points_.resize(depth);
      return fail(engine_.trouble()->violation, engine_.trouble()->text);
    }
    if (engine_.footprint_grew()) return start_again(report);
    if (depth == points_.size() && !open_point(report)) return;
    engine_.take(points_[depth].ways[points_[depth].next]);
  }
}

/// False if this execution needs to go no further.
bool Search::open_point(Report& report) {
  const std::size_t depth = points_.size();
  report.longest = std::max(report.longest, depth);
  if (engine_.all_ended()) {
    engine_.finish();
    if (engine_.trouble()) {
      fail(engine_.trouble()->violation, engine_.trouble()->text);
    } else {
      report.outcomes.insert(engine_.outcome());
    }
    return false;
  }
  if (depth >= max_steps_) {
    if (after_ == AfterFailure::stop) fail(Violation::endless, "no end after " + std::to_string(depth) + " steps");
    return false;
  }
  Point point;
  if (depth > 0) inherit(point);
  engine_.transitions(point.ways);
  bool can_proceed = false;
  for (const Transition& way : point.ways) {
    if (way.action != Transition::Action::proceed) continue;
    can_proceed = true;
    if (way.thread == engine_.last_thread()) point.favourite = way.thread;
  }
  if (!can_proceed) {
    fail(Violation::deadlock, engine_.describe_deadlock());
    return false;
  }
  if (!note_state(report, point)) return false;
  if (options_.preemptions) {
    std::erase_if(point.ways, [&](const Transition& way) {
      return point.preemptions + preemptions_of(point, way) > *options_.preemptions;
    });
  }
  if (may_sleep_) {
    point.bound.assign(engine_.threads(), 0);
    for (Thread one = 0; one < engine_.threads(); ++one) {
      for (Thread other = 0; other < engine_.threads(); ++other) {
        if (one == other || engine_.order_matters(one, other)) point.bound[one] |= Threads{1} << other;
      }
    }
  }
  points_.push_back(std::move(point));
  return true;
}

/// What follows from the way that led here.
void Search::inherit(Point& point) const {
  const Point& before = points_.back();
  const Transition& taken = before.ways[before.next];
  point.preemptions = before.preemptions + preemptions_of(before, taken);
  if (!may_sleep_) return;
  Threads explored = before.asleep;
  for (std::size_t way = 0; way < before.next; ++way) explored |= Threads{1} << before.ways[way].thread;
  point.asleep = explored & ~before.bound[taken.thread];
}

std::uint64_t Search::state(const Report& report, const Point& point) const {
  if (options_.reduction == Reduction::none) return report.states;
  std::uint64_t state = engine_.fingerprint();
  if (options_.preemptions) {
    state = mix(state, static_cast<std::uint64_t>(point.preemptions));
    state = mix(state, engine_.last_thread().value_or(~Thread{0}));
  }
  // A shorter way to a failure may pass through a state that was left because the way there was too long.
  return after_ == AfterFailure::shorten ? mix(state, points_.size()) : state;
}

/// Keeps the ways that lead to something new; false if there are none.
bool Search::note_state(Report& report, Point& point) {
  const auto [known, is_new] = known_.try_emplace(state(report, point), point.asleep);
  Threads left_out = point.asleep;
  if (!is_new) {
    // Only what slept in all earlier visits, and is awake in this one, was not explored from here.
    left_out = ~(known->second & ~point.asleep);
    point.asleep &= known->second;
    known->second = point.asleep;
  }
  std::erase_if(point.ways, [&](const Transition& way) { return ((left_out >> way.thread) & 1) != 0; });
  report.states = known_.size();
  if (known_.size() <= options_.max_states) return !point.ways.empty();
  exhausted_ = true;
  if (after_ == AfterFailure::stop) {
    fail(Violation::too_large, "more than " + std::to_string(options_.max_states) + " states");
  }
  return false;
}

int Search::preemptions_of(const Point& point, const Transition& way) {
  const bool switches = point.favourite && way.thread != *point.favourite;
  return switches && way.action == Transition::Action::proceed ? 1 : 0;
}

bool Search::next_choices() {
  while (!points_.empty()) {
    Point& last = points_.back();
    if (++last.next < last.ways.size()) return true;
    points_.pop_back();
  }
  return false;
}

void Search::fail(Violation violation, const std::string& text) {
  failed_ = true;
  violation_ = violation;
  text_ = text;
  failing_.clear();
  for (const Point& point : points_) failing_.push_back(point.ways[point.next]);
  if (after_ == AfterFailure::stop) exhausted_ = true;
  max_steps_ = failing_.empty() ? 0 : failing_.size() - 1;
}

Failure Search::describe() {
  engine_.record_steps();
  engine_.begin();
  for (const Transition& transition : failing_) {
    if (!engine_.trouble()) engine_.take(transition);
  }
  std::string text = text_;
  if (!engine_.trouble() && engine_.all_ended()) engine_.finish();
  if (engine_.trouble()) {
    text = engine_.trouble()->text;
  } else if (violation_ == Violation::deadlock) {
    text = engine_.describe_deadlock();
  }
  return {violation_, text, engine_.steps()};
}

}  // namespace baton::model
