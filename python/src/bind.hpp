// The parts of the module, each in a file of its own.
#pragma once

#include <nanobind/nanobind.h>

namespace baton::python {

namespace nb = nanobind;

void bind_errors(nb::module_& module);
void bind_options(nb::module_& module);
void bind_profile(nb::module_& module);
void bind_tensor(nb::module_& module);
void bind_kernels(nb::module_& module);
void bind_graph(nb::module_& module);
void bind_chip(nb::module_& module);
void bind_domain(nb::module_& module);
void bind_collectives(nb::module_& module);
void bind_comm(nb::module_& module);
void bind_chip_worker(nb::module_& module);
void bind_node(nb::module_& module);
void bind_sub_worker(nb::module_& module);

}  // namespace baton::python
