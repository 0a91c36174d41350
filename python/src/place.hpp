// Where in the Python source a call stands.
#pragma once

#include <string>

#include <nanobind/nanobind.h>

#include <baton/place.hpp>

namespace baton::python {

/// Files below this folder are not where a user calls from.
void set_package_folder(std::string folder);

/// The line that calls into this package. Its file name lives as long as the process.
[[nodiscard]] Place calling_place();

}  // namespace baton::python
