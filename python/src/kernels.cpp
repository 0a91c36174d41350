// Kernels from source files, texts and libraries.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include <baton/chip_program.hpp>
#include <baton/kernel_types.hpp>

#include "bind.hpp"
#include "interruptible.hpp"
#include "kernel.hpp"

namespace baton::python {
namespace {

KernelFile compile(const std::string& source, std::optional<std::string> text, bool cube, bool orchestration,
                   std::vector<std::string> include_dirs, std::vector<std::string> defines,
                   std::vector<std::string> flags, bool debug, std::string platform) {
  KernelSource request{.source = source,
                       .text = std::move(text),
                       .core = cube ? BATON_CORE_CUBE : BATON_CORE_VECTOR,
                       .form = orchestration ? SourceForm::orchestrations : SourceForm::kernels,
                       .platform = std::move(platform),
                       .include_dirs = std::move(include_dirs),
                       .defines = std::move(defines),
                       .flags = std::move(flags),
                       .debug = debug};
  return interruptibly([request = std::move(request)] { return KernelFile::compile(request); });
}

using WrittenTuple = std::tuple<std::uint32_t, std::string, std::uint32_t, std::int32_t>;

LoadedKernel with_signature(const LoadedKernel& kernel, const std::vector<WrittenTuple>& given) {
  std::vector<WrittenParameter> parameters;
  parameters.reserve(given.size());
  for (const auto& [direction, name, type, dims] : given) {
    parameters.push_back({static_cast<BatonDirection>(direction), name, type, dims});
  }
  return kernel.with_signature(std::move(parameters));
}

nb::object signature(const LoadedKernel& kernel) {
  const BatonKernelSignature* signature = kernel.get().signature;
  if (signature == nullptr) return nb::none();
  nb::list rows;
  for (std::uint32_t i = 0; i < signature->parameter_count; ++i) {
    const BatonKernelParameter& parameter = signature->parameters[i];
    rows.append(nb::make_tuple(direction_name(parameter.direction), parameter.name == nullptr ? "" : parameter.name,
                               type_name(parameter.type), parameter.dims));
  }
  return rows;
}

using ProgramTuple = std::tuple<std::int32_t, std::string, std::string, bool>;

ChipProgramParts program_parts(std::string library, std::string entry, std::string config,
                               const std::vector<ProgramTuple>& kernels, GraphBuilding building) {
  ChipProgramParts parts{.library = std::move(library), .entry = std::move(entry), .config = std::move(config)};
  for (const auto& [id, path, name, cube] : kernels) {
    parts.kernels.push_back({id, path, name, cube ? BATON_CORE_CUBE : BATON_CORE_VECTOR});
  }
  parts.building = building;
  return parts;
}

}  // namespace

void bind_kernels(nb::module_& module) {
  nb::class_<MarkedArgument>(module, "MarkedArgument");
  nb::class_<Direction>(module, "Direction", "What a kernel does with an argument; OUT(x) marks one.")
      .def(
          "__call__",
          [](const Direction& direction, const nb::object& tensor) {
            static_cast<void>(direction.access());
            return MarkedArgument{direction, tensor};
          },
          nb::arg("tensor"))
      .def_ro("number", &Direction::number)
      .def("__eq__", [](const Direction& a, const Direction& b) { return a.number == b.number; })
      .def("__hash__", [](const Direction& direction) { return direction.number; })
      .def("__repr__", [](const Direction& direction) {
        static constexpr const char* kNames[] = {"SCALAR", "IN", "OUT", "INOUT", "NO_DEP"};
        return kNames[direction.number];
      });
  module.attr("SCALAR") = Direction{BATON_DIRECTION_SCALAR};
  module.attr("IN") = Direction{BATON_DIRECTION_IN};
  module.attr("OUT") = Direction{BATON_DIRECTION_OUT};
  module.attr("INOUT") = Direction{BATON_DIRECTION_INOUT};
  module.attr("NO_DEP") = Direction{Direction::kNoDependency};
  nb::dict types;
  for (const std::uint32_t type : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 10U, 11U, 64U, 65U, 66U, 255U}) {
    types[type_name(type)] = type;
  }
  module.attr("KERNEL_TYPES") = types;

  nb::class_<LoadedKernel>(module, "Kernel", "A compiled kernel: what graph.submit() takes.")
      .def_prop_ro(
          "name", [](const LoadedKernel& kernel) { return kernel.get().name; }, "What its author called it.")
      .def_prop_ro(
          "core", [](const LoadedKernel& kernel) { return kernel.get().core == BATON_CORE_CUBE ? "cube" : "vector"; },
          "What it runs on: \"vector\" or \"cube\".")
      .def_prop_ro("library", &LoadedKernel::library, "The path of the compiled library.")
      .def_prop_ro("signature", signature, "(direction, name, type, dims) of each parameter; None for a raw kernel.")
      .def("with_signature", with_signature, nb::arg("parameters"),
           "The same kernel, whose calls are checked against these parameters: (direction, name, type, dims) each. "
           "baton.kernel(source, signature=...) is the way to write them by name.")
      .def("__repr__", [](const LoadedKernel& kernel) { return "<baton.Kernel " + kernel.describe() + ">"; });
  nb::class_<LoadedOrchestration>(module, "LibraryOrchestration",
                                  "An orchestration of a compiled library, for chip.run() and submit_next_level().")
      .def_prop_ro("name", &LoadedOrchestration::name, "What its author called it.")
      .def_prop_ro("library", &LoadedOrchestration::library, "The path of the compiled library.")
      .def("__repr__", [](const LoadedOrchestration& orchestration) {
        return "<baton.LibraryOrchestration " + orchestration.name() + ">";
      });
  nb::class_<KernelFile>(module, "KernelFile", "The kernels of one source or library.")
      .def_static("load", &KernelFile::load, nb::arg("path"))
      .def_prop_ro("names", &KernelFile::names)
      .def_prop_ro("path", &KernelFile::path)
      .def_prop_ro("messages", &KernelFile::messages)
      .def("kernel", &KernelFile::kernel, nb::arg("name") = "")
      .def("orchestration", &KernelFile::orchestration, nb::arg("name"));
  module.def("compile", compile, nb::arg("source"), nb::arg("text").none(), nb::arg("cube"), nb::arg("orchestration"),
             nb::arg("include_dirs"), nb::arg("defines"), nb::arg("flags"), nb::arg("debug"), nb::arg("platform"));
  nb::class_<ChipProgram>(module, "LoadedProgram")
      .def(
          "__init__",
          [](ChipProgram* made, std::string library, std::string entry, std::string config,
             const std::vector<ProgramTuple>& kernels, bool captured) {
            new (made) ChipProgram(program_parts(std::move(library), std::move(entry), std::move(config), kernels,
                                                 captured ? GraphBuilding::captured : GraphBuilding::stream));
          },
          nb::arg("library"), nb::arg("entry"), nb::arg("config"), nb::arg("kernels"), nb::arg("captured"))
      .def_prop_ro(
          "library", [](const ChipProgram& program) { return program.parts().library; },
          "The path of the compiled orchestration.")
      .def_prop_ro(
          "entry", [](const ChipProgram& program) { return program.parts().entry; }, "The function in it.")
      .def("__repr__", [](const ChipProgram& program) { return "<baton.ChipProgram " + program.parts().entry + ">"; });
}

}  // namespace baton::python
