#include <cstring>

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <baton/error.hpp>

#include "kernel.hpp"

namespace baton::python {
namespace {

/// "argument 2 'y' of scale".
std::string title(const Kernel* kernel, std::size_t position) {
  if (kernel == nullptr) return fmt::format("argument {}", position + 1);
  const BatonKernelSignature* signature = kernel->signature;
  const char* name = nullptr;
  if (signature != nullptr && position < signature->parameter_count) name = signature->parameters[position].name;
  if (name == nullptr || *name == '\0') return fmt::format("argument {} of {}", position + 1, kernel->name);
  return fmt::format("argument {} '{}' of {}", position + 1, name, kernel->name);
}

[[noreturn]] void refuse(const std::string& what, const std::string& remedy) {
  throw Error(Code::invalid_argument, what, {remedy});
}

template <class Integer>
Argument integer(nb::handle given, const std::string& what) {
  Integer value{};
  if (!nb::try_cast(given, value)) {
    refuse(fmt::format("{} is {}, which does not fit {} bits of {}", what, nb::cast<std::string>(nb::repr(given)),
                       8 * sizeof(Integer), std::is_signed_v<Integer> ? "int" : "uint"),
           "pass a number in its range");
  }
  return {value};
}

Argument real(nb::handle given, const std::string& what, std::uint32_t type) {
  const double value = PyFloat_AsDouble(given.ptr());
  if (value == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse(fmt::format("{} is a {}, not a number", what, Py_TYPE(given.ptr())->tp_name), "pass a number");
  }
  if (type == BATON_TYPE_FLOAT32) return {static_cast<float>(value)};
  return {value};
}

/// A scalar that knows its type (numpy.float32(2), ctypes.c_int(3)): its bytes, as they are.
Argument typed_scalar(nb::handle given, const std::string& what) {
  Py_buffer view{};
  if (PyObject_GetBuffer(given.ptr(), &view, PyBUF_FORMAT | PyBUF_ND) != 0) throw nb::python_error();
  std::int64_t slot = 0;
  const bool fits = view.ndim == 0 && view.len <= static_cast<Py_ssize_t>(sizeof slot);
  if (fits) std::memcpy(&slot, view.buf, static_cast<std::size_t>(view.len));
  PyBuffer_Release(&view);
  if (!fits) refuse(fmt::format("{} is an array where the kernel takes a scalar", what), "pass a number");
  return {slot};
}

Argument scalar(nb::handle given, const std::string& what, std::uint32_t type) {
  switch (type) {
    case BATON_TYPE_FLOAT32:
    case BATON_TYPE_FLOAT64: return real(given, what, type);
    case BATON_TYPE_INT8: return integer<std::int8_t>(given, what);
    case BATON_TYPE_INT16: return integer<std::int16_t>(given, what);
    case BATON_TYPE_INT32: return integer<std::int32_t>(given, what);
    case BATON_TYPE_INT64: return integer<std::int64_t>(given, what);
    case BATON_TYPE_UINT8: return integer<std::uint8_t>(given, what);
    case BATON_TYPE_UINT16: return integer<std::uint16_t>(given, what);
    case BATON_TYPE_UINT32: return integer<std::uint32_t>(given, what);
    case BATON_TYPE_UINT64:
    case BATON_TYPE_POINTER: return integer<std::uint64_t>(given, what);
    case BATON_TYPE_BOOL: return {PyObject_IsTrue(given.ptr()) == 1};
    default: break;
  }
  if (PyLong_Check(given.ptr())) {
    // Addresses use all 64 bits.
    std::uint64_t address = 0;
    if (nb::try_cast(given, address)) return {address};
    return integer<std::int64_t>(given, what);
  }
  if (PyFloat_CheckExact(given.ptr())) {
    refuse(fmt::format("{} is a float, but nothing says whether the kernel reads 32 or 64 bits", what),
           "pass numpy.float32(x) or numpy.float64(x), or give the kernel a signature with a type");
  }
  if (PyObject_CheckBuffer(given.ptr()) != 0) return typed_scalar(given, what);
  refuse(fmt::format("{} is a {}, not a number", what, Py_TYPE(given.ptr())->tp_name), "pass a number");
}

/// Of Python, or of NumPy: an array without dimensions.
bool is_number(nb::handle given) {
  if (PyLong_Check(given.ptr()) || PyFloat_Check(given.ptr())) return true;
  return PyObject_CheckBuffer(given.ptr()) != 0 && nb::hasattr(given, "ndim") && !nb::isinstance<Array>(given) &&
         nb::cast<int>(given.attr("ndim")) == 0;
}

Writable need_of(Access access) {
  return access == Access::out || access == Access::inout ? Writable::yes : Writable::no;
}

}  // namespace

Access Direction::access() const {
  switch (number) {
    case BATON_DIRECTION_IN: return Access::in;
    case BATON_DIRECTION_OUT: return Access::out;
    case BATON_DIRECTION_INOUT: return Access::inout;
    case kNoDependency: return Access::no_dependency;
    default: break;
  }
  throw Error(Code::invalid_argument, "SCALAR marks no tensor", {"use IN, OUT, INOUT or NO_DEP"});
}

CallArguments::CallArguments(const Kernel* kernel, const nb::args& given, Lies lies) : lies_(lies) {
  arrays_.reserve(given.size());
  arguments_.reserve(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) add(kernel, i, given[i]);
}

CallArguments::CallArguments(const std::string& name, const nb::args& given) {
  arrays_.reserve(given.size());
  arguments_.reserve(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const nb::handle one = given[i];
    MarkedArgument* marked = nullptr;
    if (nb::try_cast(one, marked) && marked != nullptr) {
      add(nullptr, i, one);
      continue;
    }
    const std::string what = fmt::format("argument {} of {}", i + 1, name);
    if (is_number(one)) {
      arguments_.push_back(scalar(one, what, BATON_TYPE_ANY));
      continue;
    }
    arrays_.push_back(array_of(one, what, Writable::yes, Layout::contiguous, lies_));
    arguments_.emplace_back(Access::inout, arrays_.back().tensor);
  }
}

void CallArguments::add(const Kernel* kernel, std::size_t position, nb::handle given) {
  const std::string what = title(kernel, position);
  MarkedArgument* marked = nullptr;
  if (nb::try_cast(given, marked) && marked != nullptr) {
    const Access access = marked->direction.access();
    arrays_.push_back(array_of(marked->object, what, need_of(access), Layout::contiguous, lies_));
    arguments_.emplace_back(access, arrays_.back().tensor);
    return;
  }
  const BatonKernelSignature* signature = kernel == nullptr ? nullptr : kernel->signature;
  const BatonKernelParameter* parameter =
      signature != nullptr && position < signature->parameter_count ? &signature->parameters[position] : nullptr;
  const bool number = PyLong_Check(given.ptr()) || PyFloat_Check(given.ptr());
  const bool is_scalar = parameter != nullptr
                             ? parameter->direction == BATON_DIRECTION_SCALAR && !nb::isinstance<Array>(given)
                             : signature == nullptr && is_number(given);
  if (is_scalar) {
    arguments_.push_back(scalar(given, what, parameter != nullptr ? parameter->type : std::uint32_t{BATON_TYPE_ANY}));
    return;
  }
  if (parameter == nullptr && signature == nullptr) {
    refuse(fmt::format("{} is a tensor, and nothing says what the kernel does with it", what),
           "mark it: IN(x), OUT(x), INOUT(x); or give the kernel a signature");
  }
  // Too many arguments, or a number for a tensor: the check against the signature says it better.
  const Access access = parameter != nullptr && parameter->direction != BATON_DIRECTION_SCALAR
                            ? Direction{parameter->direction}.access()
                            : Access::in;
  if (number || (parameter == nullptr && is_number(given))) {
    arguments_.push_back(Argument(std::int64_t{0}));
    return;
  }
  arrays_.push_back(array_of(given, what, need_of(access), Layout::contiguous, lies_));
  arguments_.emplace_back(access, arrays_.back().tensor);
}

}  // namespace baton::python
