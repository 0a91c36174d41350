#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <baton/device_list.hpp>
#include <baton/options.hpp>
#include <baton/race_check.hpp>
#include <baton/trace.hpp>

#include "bind.hpp"
#include "place.hpp"

namespace baton::python {

void bind_options(nb::module_& module) {
  module.def("set_package_folder", &set_package_folder);
  module.attr("__version__") = BATON_VERSION;
  module.def(
      "parse_device_list", [](const std::string& text) { return parse_device_list(text); }, nb::arg("text"),
      "[0, 2, 3, 4] of \"0,2-4\": devices as people write them.");
  module.def("format_device_list", &format_device_list, nb::arg("devices"), "The opposite of parse_device_list().");
  module.def(
      "kernel_limit_seconds",
      [](std::optional<double> given) {
        return given.value_or(std::chrono::duration<double>(options().kernel_limit()).count());
      },
      nb::arg("given").none());
  nb::class_<Trace>(module, "Trace").def(nb::init<const std::string&>(), nb::arg("file"));
  nb::class_<RaceCheck>(module, "RaceCheck").def(nb::init<>()).def("finish", &RaceCheck::finish);
  module.def("wait_timeout_seconds", [] { return std::chrono::duration<double>(options().wait_timeout).count(); });
}

}  // namespace baton::python
