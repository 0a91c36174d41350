// How a rank of these tests comes to its end.
#pragma once

#include <string_view>

#include <baton/error.hpp>

namespace baton::test {

/// Ends this process, as the environment says, if it says that this rank ends at this step: TEST_VICTIMS lists ranks
/// ("2", "0,3"), TEST_STEP names the step, TEST_ENDING tells how: kill (the default), exit, abort, segv or throw. Tells
/// the time before.
void reach(std::string_view step, int rank);

/// Runs `body`; an Error of it is told with its time and its whole report. Returns whether there was one.
template <class Body>
bool survives_with_error(Body&& body);

/// Tells "caught CODE" and the report.
void tell_caught(const Error& error);

template <class Body>
bool survives_with_error(Body&& body) {
  try {
    body();
    return false;
  } catch (const Error& error) {
    tell_caught(error);
    return true;
  }
}

}  // namespace baton::test
