// The module that Python imports.
#include <pybind11/chrono.h>
#include <torch/csrc/utils/pybind.h>

#include "process_group.hpp"

namespace {

using baton::process_group::Naming;
using baton::process_group::ProcessGroupBaton;

c10::intrusive_ptr<c10d::Backend> make(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                       std::chrono::milliseconds timeout, const std::string& name,
                                       std::vector<std::int64_t> ranks) {
  const py::gil_scoped_release released;
  c10::intrusive_ptr<c10d::Backend> made;
  baton::process_group::run_translated([&] {
    made = c10::make_intrusive<ProcessGroupBaton>(store, rank, size, timeout, Naming{name, std::move(ranks)});
  });
  return made;
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.def("make", &make, py::arg("store"), py::arg("rank"), py::arg("size"), py::arg("timeout"), py::arg("name"),
             py::arg("ranks"));
  py::class_<ProcessGroupBaton, c10::intrusive_ptr<ProcessGroupBaton>, c10d::Backend>(module, "ProcessGroupBaton")
      .def("abort", &ProcessGroupBaton::abort, py::call_guard<py::gil_scoped_release>());
}
