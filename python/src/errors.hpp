// Errors of the chip and errors of the orchestration.
#pragma once

#include <exception>

#include <nanobind/nanobind.h>

#include <baton/error.hpp>

namespace baton::python {

/// What Python raised, for those who know no Python: a baton.Error as what it is, others as `otherwise` with their
/// text.
[[nodiscard]] Error error_of(const nanobind::python_error& raised, Code otherwise);

/// Throws what went wrong: on the chip first, with the exception of the orchestration as its context; else that of the
/// orchestration. Returns if nothing did.
void raise_outcome(const std::exception_ptr& on_chip, const std::exception_ptr& in_orchestration);

}  // namespace baton::python
