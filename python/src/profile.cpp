#include "profile.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "bind.hpp"

namespace baton::python {

ProfileMode profile_mode_named(const std::string& name) {
  if (name == "off") return ProfileMode::off;
  if (name == "summary") return ProfileMode::summary;
  if (name == "records") return ProfileMode::records;
  throw Error(Code::invalid_argument, fmt::format("there is no profile '{}'", name),
              {"there are off, summary and records"});
}

void bind_profile(nb::module_& module) {
  nb::class_<KernelProfile>(module, "KernelProfile", "What the tasks of one kernel did, in all. Times are nanoseconds.")
      .def_ro("kernel", &KernelProfile::kernel, "Its name.")
      .def_ro("count", &KernelProfile::count, "Tasks.")
      .def_ro("deferred", &KernelProfile::deferred, "Those that were complete some time after their kernel returned.")
      .def_ro("failed", &KernelProfile::failed, "Those that failed.")
      .def_ro("not_run", &KernelProfile::not_run, "Those that another one's failure kept from running.")
      .def_ro("total_ns", &KernelProfile::total_ns, "From the begin of the kernel to its return.")
      .def_ro("max_ns", &KernelProfile::max_ns, "The longest of them.")
      .def_ro("waiting_ns", &KernelProfile::waiting_ns, "From ready to dispatched.")
      .def("__repr__", [](const KernelProfile& one) {
        return fmt::format("<baton.KernelProfile {}: {} tasks, {} ns>", one.kernel, one.count, one.total_ns);
      });
  nb::class_<CoreProfile>(module, "CoreProfile", "What one core did.")
      .def_ro("core", &CoreProfile::core, "Its name.")
      .def_ro("kernels", &CoreProfile::kernels, "How many it ran.")
      .def_ro("busy", &CoreProfile::busy, "The share of the profiled time that it was inside kernels.")
      .def("__repr__", [](const CoreProfile& one) {
        return fmt::format("<baton.CoreProfile {}: {} kernels, busy {:.3g}>", one.core, one.kernels, one.busy);
      });
  nb::class_<HighWater>(module, "HighWater", "The most that was in use at once, and how much there is.")
      .def_ro("tasks", &HighWater::tasks, "In flight.")
      .def_ro("task_window", &HighWater::task_window, "The tasks that may be in flight.")
      .def_ro("output_bytes", &HighWater::output_bytes, "Of outputs.")
      .def_ro("output_heap_bytes", &HighWater::output_heap_bytes, "The room for outputs.")
      .def_ro("deferred", &HighWater::deferred, "Tasks whose kernels had returned and which were not complete.");
  nb::class_<TaskProfile>(module, "TaskProfile",
                          "What the tasks of a chip did in all runs so far; chip.task_profile() makes one.")
      .def_ro("elapsed_ns", &TaskProfile::elapsed_ns, "Inside of runs.")
      .def_ro("kernels", &TaskProfile::kernels, "The longest in all first.")
      .def_ro("cores", &TaskProfile::cores, "Those that ran a kernel.")
      .def_ro("high_water", &TaskProfile::high_water, "The most that was in use at once.")
      .def_ro("names", &TaskProfile::names, "Of kernels, by the number that records have.")
      .def_prop_ro(
          "records",
          [](const TaskProfile& profile) {
            const nb::bytes bytes(profile.records.data(), profile.records.size() * sizeof(TaskRecord));
            return nb::module_::import_("baton._dtypes").attr("task_records")(bytes);
          },
          nb::sig("def records(self) -> numpy.ndarray"),
          "A record of each task as a structured array: task, submitted, ready, dispatched, started, returned, "
          "completed "
          "(nanoseconds of the steady clock), kernel (its number in names), core, outcome (0 done, 1 deferred and "
          "done, "
          "2 failed, 3 not run). Empty without profile=\"records\".")
      .def("table", &TaskProfile::table, "For people.");
}

}  // namespace baton::python
