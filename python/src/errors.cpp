// baton::Error as the Python class that the package registers.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <baton/error.hpp>

#include "bind.hpp"
#include "chip_host.hpp"
#include "errors.hpp"

namespace baton::python {
namespace {

/// The class baton.Error; a reference that lives as long as the process.
PyObject* error_class = nullptr;

nb::object made_from(const Error& error) {
  return nb::borrow<nb::object>(error_class)(static_cast<int>(error.code()), error.message(), error.notes(),
                                             error.remedy());
}

void translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    if (error_class == nullptr) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
      return;
    }
    try {
      const nb::object made = made_from(error);
      PyErr_SetObject(error_class, made.ptr());
    } catch (nb::python_error& failed) {
      failed.restore();
    }
  }
}

}  // namespace

Error error_of(const nb::python_error& raised, Code otherwise) {
  const nb::handle value = raised.value();
  if (error_class != nullptr && PyObject_IsInstance(value.ptr(), error_class) == 1) {
    return Error(static_cast<Code>(nb::cast<int>(value.attr("code"))), nb::cast<std::string>(value.attr("message")),
                 nb::cast<std::vector<std::string>>(value.attr("notes")), nb::cast<std::string>(value.attr("remedy")));
  }
  return Error(otherwise, raised.what());
}

void raise_outcome(const std::exception_ptr& on_chip, const std::exception_ptr& in_orchestration) {
  if (on_chip) {
    try {
      std::rethrow_exception(on_chip);
    } catch (const OrchestrationFailed&) {
      std::rethrow_exception(in_orchestration);
    } catch (const Error& error) {
      if (!in_orchestration || error_class == nullptr) throw;
      const nb::object made = made_from(error);
      try {
        std::rethrow_exception(in_orchestration);
      } catch (nb::python_error& first) {
        PyException_SetContext(made.ptr(), nb::borrow<nb::object>(first.value()).release().ptr());
      } catch (...) {
        // Not of Python: the failure of the chip tells all.
      }
      PyErr_SetObject(error_class, made.ptr());
      throw nb::python_error();
    }
  }
  if (in_orchestration) std::rethrow_exception(in_orchestration);
}

void bind_errors(nb::module_& module) {
  nb::register_exception_translator(translate);
  module.def("set_error_class", [](const nb::object& given) { error_class = nb::object(given).release().ptr(); });
  module.def("error_table", [] {
    nb::list rows;
    for (const ErrorInfo& row : error_table()) {
      rows.append(nb::make_tuple(static_cast<int>(row.code), row.name, row.sentence, row.remedy));
    }
    return rows;
  });
}

}  // namespace baton::python
