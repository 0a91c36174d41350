// Errors of the chip and errors of the orchestration.
#pragma once

#include <exception>

namespace baton::python {

/// Throws what went wrong: on the chip first, with the exception of the orchestration as its context; else that of the
/// orchestration. Returns if nothing did.
void raise_outcome(const std::exception_ptr& on_chip, const std::exception_ptr& in_orchestration);

}  // namespace baton::python
