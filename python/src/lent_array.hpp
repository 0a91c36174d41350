// Memory that Python objects lend, through the buffer protocol or DLPack, as tensors.
#pragma once

#include <string>

#include "array.hpp"

namespace baton::python {

/// Throws Error: `what` has this problem.
[[noreturn]] void refuse_array(const std::string& what, const std::string& problem, const std::string& remedy);

/// As array_of(), for an object with the buffer protocol, and for one that knows DLPack.
[[nodiscard]] Array from_buffer(nb::handle object, const std::string& what, Writable need, Layout layout);
[[nodiscard]] Array from_dlpack(nb::handle object, const std::string& what, Layout layout);

}  // namespace baton::python
