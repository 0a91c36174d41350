#include "place.hpp"

#include <set>
#include <string>
#include <string_view>

namespace baton::python {
namespace {

std::string package_folder;

/// The name of the file of a frame; nothing if that cannot be told.
const char* file_of(PyFrameObject* frame) {
  PyCodeObject* code = PyFrame_GetCode(frame);
  const char* name = PyUnicode_AsUTF8(code->co_filename);
  if (name == nullptr) PyErr_Clear();
  Py_DECREF(code);  // the frame keeps it
  return name;
}

bool in_package(const char* file) {
  return !package_folder.empty() && std::string_view(file).starts_with(package_folder);
}

}  // namespace

void set_package_folder(std::string folder) { package_folder = std::move(folder); }

Place calling_place() {
  PyFrameObject* frame = PyEval_GetFrame();
  if (frame == nullptr) return {};
  Py_INCREF(frame);
  const char* file = file_of(frame);
  while (file != nullptr && in_package(file)) {
    PyFrameObject* caller = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = caller;
    if (frame == nullptr) return {};
    file = file_of(frame);
  }
  const int line = PyFrame_GetLineNumber(frame);
  // Tasks and reports keep the pointer. There are as many names as files of the program. Guarded by the GIL.
  static std::set<std::string> files;
  Place place;
  if (file != nullptr && line > 0) place = {files.emplace(file).first->c_str(), static_cast<std::uint32_t>(line)};
  Py_DECREF(frame);
  return place;
}

}  // namespace baton::python
