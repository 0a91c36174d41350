#include "bind.hpp"

NB_MODULE(_core, module) {
  // Calls that Ctrl-C ended, and daemon threads of the program, keep objects until the process ends. Lists of them
  // would look like failures.
  nanobind::set_leak_warnings(false);
  module.doc() = "The C++ side of Baton. Use the package `baton`, which adds documentation and convenience.";
  baton::python::bind_errors(module);
  baton::python::bind_options(module);
  baton::python::bind_tensor(module);
  baton::python::bind_kernels(module);
  baton::python::bind_graph(module);
  baton::python::bind_profile(module);
  baton::python::bind_chip(module);
  baton::python::bind_domain(module);
  baton::python::bind_collectives(module);
  baton::python::bind_comm(module);
  baton::python::bind_chip_worker(module);
  baton::python::bind_node(module);
  baton::python::bind_sub_worker(module);
}
