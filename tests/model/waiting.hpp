// How threads of a scenario wait on a production doorbell: the loop of wait_until() in base/parking.cpp.
#pragma once

#include "atomics.hpp"
#include "base/doorbell.hpp"

namespace baton::model {

template <class Doorbell, class Test>
void wait_on(Doorbell& doorbell, Test&& test) {
  while (true) {
    bool holds = false;
    doorbell.sleep_unless([&] { return holds = test(); }, kNever, FutexScope::process);
    if (holds || test()) return;
  }
}

}  // namespace baton::model
