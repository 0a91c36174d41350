#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include <fmt/format.h>

#include <baton/chip_program.hpp>
#include <baton/error.hpp>

#include "bind.hpp"
#include "captured.hpp"
#include "chip_host.hpp"
#include "chip_windows.hpp"
#include "gil.hpp"
#include "graph.hpp"
#include "kernel.hpp"
#include "place.hpp"
#include "profile.hpp"
#include "seconds.hpp"

namespace baton::python {
namespace {

std::shared_ptr<ChipHost> make_chip(const std::optional<Domain>& domain, const std::string& platform, int device,
                                    int clusters, int threads, std::uint64_t task_window,
                                    std::uint64_t output_heap_bytes, std::optional<std::uint64_t> seed,
                                    const std::optional<std::string>& profile, std::optional<double> kernel_timeout,
                                    const std::optional<std::string>& dump) {
  ChipOptions options{.platform = platform,
                      .device = device,
                      .clusters = clusters,
                      .threads = threads,
                      .task_window = task_window,
                      .output_heap_bytes = output_heap_bytes,
                      .kernel_timeout = nanoseconds_of(kernel_timeout),
                      .seed = seed,
                      .dump = dump};
  if (profile) options.profile = profile_mode_named(*profile);
  return std::make_shared<ChipHost>(domain, options);
}

/// Calls `function` with the graph and takes the graph back, whatever happens.
void orchestrate(ChipHost& host, Graph& graph, LentGraph& lent, const nb::callable& function) {
  const auto handle = std::make_shared<GraphHandle>(host, graph, lent);
  try {
    function(handle);
  } catch (...) {
    handle->finish();
    throw;
  }
  handle->finish();
}

Edges edges_named(const std::string& name) {
  if (name == "inferred") return Edges::inferred;
  if (name == "named") return Edges::named;
  throw Error(Code::invalid_argument, fmt::format("there are no '{}' edges", name), {"there are inferred and named"});
}

void run(const std::shared_ptr<ChipHost>& host, const nb::callable& function, const std::string& edges) {
  const Place where = calling_place();
  const GraphOptions options{.edges = edges_named(edges)};
  host->run([=](Chip& chip, LentGraph& lent) { chip.run([&](Graph& graph) { lent.lend(graph); }, options, where); },
            [&](Graph& graph, LentGraph& lent) { orchestrate(*host, graph, lent, function); });
}

/// The arguments of an orchestration of a library. Tensors that are not marked may be written.
struct LibraryArguments {
  LibraryArguments(const std::string& name, const nb::args& given) : call(name, given) {
    for (const Argument& argument : call.get()) {
      if (argument.tensor() != nullptr) {
        tensors.push_back(*argument.tensor());
      } else {
        scalars.push_back(argument.slot());
      }
    }
  }
  CallArguments call;
  std::vector<Tensor> tensors;
  std::vector<std::int64_t> scalars;
};

void run_library(const std::shared_ptr<ChipHost>& host, const LoadedOrchestration& orchestration, const nb::args& given,
                 const std::string& edges) {
  const Place where = calling_place();
  const GraphOptions options{.edges = edges_named(edges)};
  const LibraryArguments arguments(orchestration.name(), given);
  host->run_captured(
      arguments.call.arrays(), [=, tensors = arguments.tensors, scalars = arguments.scalars](Chip& chip) {
        chip.run([&](Graph& graph) { orchestration(graph, ChipArgs(tensors, scalars)); }, options, where);
      });
}

void run_program(const std::shared_ptr<ChipHost>& host, const ChipProgram& program, const nb::args& given) {
  const Place where = calling_place();
  const LibraryArguments arguments(program.parts().entry, given);
  host->run_captured(arguments.call.arrays(),
                     [=, tensors = arguments.tensors, scalars = arguments.scalars](Chip& chip) {
                       program.run(chip, ChipArgs(tensors, scalars), where);
                     });
}

std::shared_ptr<Captured> capture(const std::shared_ptr<ChipHost>& host, const nb::callable& function,
                                  const std::string& edges) {
  const Place where = calling_place();
  const GraphOptions options{.edges = edges_named(edges)};
  auto made = std::make_shared<std::shared_ptr<CapturedGraph>>();
  auto held = host->capture(
      [=](Chip& chip, LentGraph& lent) {
        *made = std::make_shared<CapturedGraph>(chip.capture([&](Graph& graph) { lent.lend(graph); }, options, where));
      },
      [&](Graph& graph, LentGraph& lent) { orchestrate(*host, graph, lent, function); });
  return std::make_shared<Captured>(host, *made, std::move(held));
}

void run_captured(const std::shared_ptr<ChipHost>& host, const Captured& captured, const nb::list& bindings) {
  if (captured.host() != host.get()) throw Error(Code::invalid_argument, "another chip captured this graph");
  const Bindings given(bindings);
  host->run_captured(given.arrays,
                     [graph = captured.shared(), list = given.list](Chip& chip) { chip.run_captured(*graph, list); });
}

/// Whether copies between the host and the tensor go through the chip.
bool is_elsewhere(const Array& array, const Chip& chip, const char* what) {
  const MemoryPlace place = array.memory ? array.memory->place() : MemoryPlace{};
  if (!place.is_host() && place != chip.memory_place()) {
    throw Error(Code::invalid_argument, fmt::format("{}: the tensor lies in the memory of another device", what),
                {"copy it with the chip whose memory it is"});
  }
  return !place.is_host();
}

void copy_in(ChipHost& host, const Array& to, const nb::object& given) {
  Chip& chip = host.chip();
  const Array from = copied_to(to, given);
  check_copy(to, from, "copy_in");
  const bool elsewhere = is_elsewhere(to, chip, "copy_in");
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(from.tensor.address()), bytes_of(from));
  const Unlocked unlocked;
  if (elsewhere) {
    chip.copy_in(to.tensor.reinterpret(DType::uint8), bytes);
  } else {
    std::memmove(reinterpret_cast<void*>(to.tensor.address()), bytes.data(), bytes.size());
  }
}

void copy_out(ChipHost& host, const Array& from, const nb::object& given) {
  Chip& chip = host.chip();
  const Array to = copied_from(from, given);
  check_copy(to, from, "copy_out");
  const bool elsewhere = is_elsewhere(from, chip, "copy_out");
  const std::span bytes(reinterpret_cast<std::uint8_t*>(to.tensor.address()), bytes_of(to));
  const Unlocked unlocked;
  if (elsewhere) {
    chip.copy_out(from.tensor.reinterpret(DType::uint8), bytes);
  } else {
    std::memmove(bytes.data(), reinterpret_cast<const void*>(from.tensor.address()), bytes.size());
  }
}

}  // namespace

void bind_chip(nb::module_& module) {
  nb::class_<Captured>(module, "CapturedGraph",
                       "A graph that was built once, for chip.run() to run many times without finding any edge again.")
      .def_prop_ro(
          "task_count", [](const Captured& captured) { return captured.get().task_count(); }, "Tasks of the graph.")
      .def_prop_ro(
          "edge_count", [](const Captured& captured) { return captured.get().edge_count(); },
          "Its edges, without those that others imply.")
      .def(
          "set_scalar",
          [](Captured& captured, TaskId task, std::size_t scalar, const nb::object& value) {
            if (PyFloat_Check(value.ptr())) {
              captured.get().set_scalar(task, scalar, nb::cast<float>(value));
            } else {
              captured.get().set_scalar(task, scalar, nb::cast<std::int64_t>(value));
            }
          },
          nb::arg("task"), nb::arg("scalar"), nb::arg("value"),
          "Changes number `scalar`, from 0, of the scalars of a task, for the runs that follow. A Python float is a "
          "32-bit one.")
      .def(
          "drawing", [](const Captured& captured) { return captured.get().drawing(); },
          "Tasks and edges in the language of Graphviz.");
  nb::class_<ChipWindowHandle>(module, "RawChipWindow")
      .def_prop_ro("nbytes", [](const ChipWindowHandle& window) { return window.get().bytes(); })
      .def_prop_ro("name", [](const ChipWindowHandle& window) { return window.get().name(); })
      .def_prop_ro(
          "context",
          [](const ChipWindowHandle& window) { return reinterpret_cast<std::uint64_t>(window.get().context()); })
      .def("part", &ChipWindowHandle::part)
      .def("release", &ChipWindowHandle::release);
  nb::class_<ChipHost>(module, "Chip")
      .def("window", open_window)
      .def("alloc", [](ChipHost& host, const std::vector<std::int64_t>& shape, const std::string& dtype,
                       const std::string& name) { return host.alloc(dtype_named(dtype), shape, name); })
      .def("free", &ChipHost::free)
      .def("add",
           [](ChipHost& host, const nb::object& object, const std::string& name) {
             const Array array = array_of(object, "the array", Writable::no, Layout::strided, Lies::anywhere);
             host.add(array, name);
             return array;
           })
      .def("remove", [](ChipHost& host, const Array& array) { host.remove(array); })
      .def("run", run)
      .def("capture", capture)
      .def("run_captured", run_captured)
      .def("run_library", run_library, nb::arg("orchestration"), nb::arg("args"), nb::kw_only(), nb::arg("edges"))
      .def("run_program", run_program, nb::arg("program"), nb::arg("args"))
      .def("task_profile", [](ChipHost& host) { return host.chip().task_profile(); })
      .def("copy_in", copy_in)
      .def("copy_out", copy_out)
      .def("close", &ChipHost::close)
      .def_prop_ro("clusters", [](ChipHost& host) { return host.chip().clusters(); })
      .def_prop_ro("vector_cores", [](ChipHost& host) { return host.chip().vector_cores(); });
  module.def("make_chip", make_chip, nb::arg("domain").none(), nb::arg("platform"), nb::arg("device"),
             nb::arg("clusters"), nb::arg("threads"), nb::arg("task_window"), nb::arg("output_heap_bytes"),
             nb::arg("seed").none(), nb::arg("profile").none(), nb::arg("kernel_timeout").none(),
             nb::arg("dump").none());
}

}  // namespace baton::python
