// Element types in the languages of Python, of the buffer protocol and of DLPack.
#pragma once

#include <optional>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <baton/tensor.hpp>

namespace baton::python {

namespace nb = nanobind;

/// "float32" to its number. Throws Error that lists the names.
[[nodiscard]] DType dtype_named(const std::string& name);
/// In the language of the buffer protocol; null if that has none.
[[nodiscard]] const char* format_of(DType dtype) noexcept;
/// Nothing if chips do not have such elements. Bytes, if there is no format.
[[nodiscard]] std::optional<DType> dtype_of_format(const char* format);
/// In the language of DLPack, and back.
[[nodiscard]] nb::dlpack::dtype dlpack_of(DType dtype) noexcept;
[[nodiscard]] std::optional<DType> dtype_of_dlpack(nb::dlpack::dtype given);

}  // namespace baton::python
