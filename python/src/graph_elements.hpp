// Outputs of a graph, and single elements that its orchestration reads and writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph.hpp"

namespace baton::python {

/// Filled with `fill` unless that is None.
[[nodiscard]] Array output(GraphHandle& handle, const std::vector<std::int64_t>& shape, const std::string& dtype_name,
                           const nb::object& fill);
/// Both wait for the tasks that use the element.
[[nodiscard]] nb::object get(GraphHandle& handle, const nb::object& tensor, const nb::args& position);
void set(GraphHandle& handle, const nb::object& tensor, const nb::args& position, const nb::object& value);

}  // namespace baton::python
