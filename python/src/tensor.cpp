// The class Tensor: views, the buffer protocol, DLPack.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "array.hpp"
#include "bind.hpp"

namespace baton::python {
namespace {

/// What a Py_buffer of ours needs besides the view: extents and strides in bytes.
struct Exported {
  std::shared_ptr<Memory> memory;
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;
};

/// Tensors whose memory Python can keep alive. Outputs of a graph end with it.
const std::shared_ptr<Memory>& lendable(const Array& array) {
  static_cast<void>(array.get());
  if (!array.memory) {
    throw Error(Code::invalid_argument, "an output of a graph or a token has no memory that outlives the run",
                {"copy it with a kernel into a tensor of the chip, or read elements with graph.get()"});
  }
  if (const char* why = array.memory->why_no_array()) {
    throw Error(Code::invalid_argument, std::string("no array can show this tensor: ") + why,
                {"copy it with copy_from()"});
  }
  return array.memory;
}

/// Those that arrays of the host can show.
const std::shared_ptr<Memory>& exportable(const Array& array) {
  const auto& memory = lendable(array);
  if (!memory->place().is_host()) {
    throw Error(Code::invalid_argument, "no array of the host can show this tensor: it lies in the memory of a device",
                {"copy it with chip.copy_out(tensor); PyTorch and CuPy show it as it is, with from_dlpack(tensor)"});
  }
  return memory;
}

/// Where an array finds the first element.
void* array_address(const Array& array) {
  return reinterpret_cast<void*>(array.tensor.address() + array.memory->array_shift());
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  try {
    const auto& array = *nb::inst_ptr<Array>(self);
    const auto& memory = exportable(array);
    const Tensor& tensor = array.tensor;
    const char* format = format_of(tensor.dtype());
    if (format == nullptr) {
      PyErr_SetString(PyExc_BufferError,
                      "the buffer protocol has no bfloat16; use .numpy(), or .reinterpret('uint16')");
      return -1;
    }
    if ((flags & PyBUF_WRITABLE) != 0 && !memory->writable()) {
      PyErr_SetString(PyExc_BufferError, "the tensor is read-only");
      return -1;
    }
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !tensor.is_contiguous()) {
      PyErr_SetString(PyExc_BufferError, "the tensor is not contiguous");
      return -1;
    }
    auto exported = std::make_unique<Exported>();
    exported->memory = memory;
    const auto size = static_cast<Py_ssize_t>(size_of(tensor.dtype()));
    for (int i = 0; i < tensor.dims(); ++i) {
      exported->shape.push_back(tensor.extent(i));
      exported->strides.push_back(tensor.stride(i) * size);
    }
    *view = Py_buffer{};
    view->buf = array_address(array);
    view->obj = self;
    Py_INCREF(self);
    view->len = tensor.element_count() * size;
    view->itemsize = size;
    view->readonly = memory->writable() ? 0 : 1;
    view->ndim = tensor.dims();
    view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format) : nullptr;
    view->shape = (flags & PyBUF_ND) != 0 ? exported->shape.data() : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? exported->strides.data() : nullptr;
    memory->add_export();
    view->internal = exported.release();
    return 0;
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
    return -1;
  }
}

void release_buffer(PyObject* /*self*/, Py_buffer* view) noexcept {
  const std::unique_ptr<Exported> exported(static_cast<Exported*>(view->internal));
  exported->memory->remove_export();
}

const PyType_Slot kSlots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                              {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                              {0, nullptr}};

nb::object to_dlpack(const Array& array, const nb::kwargs& arguments) {
  const auto& memory = lendable(array);
  const MemoryPlace place = memory->place();
  if (place.kind == MemoryPlace::kUnnamed) {
    throw Error(Code::unsupported, "DLPack has no name for the device whose memory this tensor lies in",
                {"copy it with chip.copy_out(tensor)"});
  }
  const Tensor& tensor = array.tensor;
  const std::vector<std::size_t> shape(tensor.shape().begin(), tensor.shape().end());
  memory->add_export();
  const nb::capsule owner(new std::shared_ptr<Memory>(memory), [](void* held) noexcept {
    const std::unique_ptr<std::shared_ptr<Memory>> last(static_cast<std::shared_ptr<Memory>*>(held));
    (*last)->remove_export();
  });
  const nb::ndarray<nb::array_api> made(array_address(array), shape.size(), shape.data(), owner,
                                        tensor.strides().data(), dlpack_of(tensor.dtype()), place.kind, place.device);
  return nb::cast(made).attr("__dlpack__")(**arguments);
}

std::int64_t whole_number(nb::handle number) { return nb::cast<std::int64_t>(nb::int_(nb::handle(number))); }

/// One index of x[...]: dimension `dim` of `view` shrinks, or disappears. Returns the dimension to go on with.
int apply_index(Tensor& view, int dim, nb::handle index) {
  const std::int64_t extent = view.extent(dim);
  if (nb::isinstance<nb::slice>(index)) {
    Py_ssize_t begin = 0;
    Py_ssize_t end = 0;
    Py_ssize_t step = 1;
    if (PySlice_Unpack(index.ptr(), &begin, &end, &step) != 0) throw nb::python_error();
    PySlice_AdjustIndices(extent, &begin, &end, step);
    if (step < 1) throw Error(Code::invalid_argument, "a tensor is not sliced backwards", {"use .reverse(dim)"});
    view = view.slice_dim(dim, begin, end, step);
    return dim + 1;
  }
  std::int64_t position = whole_number(index);
  if (position < 0) position += extent;
  if (position < 0 || position >= extent) throw nb::index_error("index out of range");
  if (view.dims() == 1) {
    view = view.slice_dim(dim, position, position + 1);
    return dim + 1;
  }
  view = view.select(dim, position);
  return dim;
}

Array get_item(const Array& array, const nb::object& index) {
  Tensor view = array.get();
  int dim = 0;
  if (!nb::isinstance<nb::tuple>(index)) {
    static_cast<void>(apply_index(view, dim, index));
    return array.with(view);
  }
  for (const nb::handle one : nb::cast<nb::tuple>(index)) dim = apply_index(view, dim, one);
  return array.with(view);
}

std::vector<std::int64_t> list_of(Tensor::Extents extents) { return {extents.begin(), extents.end()}; }

}  // namespace

void bind_tensor(nb::module_& module) {
  nb::class_<Array>(
      module, "Tensor", nb::type_slots(kSlots),
      "A view of memory with up to five dimensions. Copies refer to the same memory; nothing is copied "
      "between it and NumPy: numpy.asarray(tensor), or tensor.numpy(). Memory of a GPU is for PyTorch and "
      "CuPy, without a copy: torch.from_dlpack(tensor).")
      .def_prop_ro(
          "shape", [](const Array& array) { return nb::tuple(nb::cast(list_of(array.tensor.shape()))); },
          "How many elements each dimension has.")
      .def_prop_ro(
          "strides", [](const Array& array) { return nb::tuple(nb::cast(list_of(array.tensor.strides()))); },
          "In elements.")
      .def_prop_ro(
          "dtype", [](const Array& array) { return std::string(name_of(array.tensor.dtype())); },
          "The name of the element type: \"float32\".")
      .def_prop_ro(
          "ndim", [](const Array& array) { return array.tensor.dims(); }, "The number of dimensions.")
      .def_prop_ro(
          "size", [](const Array& array) { return array.tensor.element_count(); }, "The number of elements.")
      .def_prop_ro(
          "nbytes",
          [](const Array& array) {
            return array.tensor.element_count() * static_cast<std::int64_t>(size_of(array.tensor.dtype()));
          },
          "The bytes of all elements.")
      .def_prop_ro(
          "address", [](const Array& array) { return array.get().address(); }, "Of the first element.")
      .def_prop_ro(
          "base",
          [](const Array& array) {
            return array.get().address() + (array.memory ? array.memory->kernel_shift() : std::uint64_t{0});
          },
          "The same as kernels see it: of a buffer in the window of a chip, in the address space of that chip.")
      .def_prop_ro(
          "is_contiguous", [](const Array& array) { return array.tensor.is_contiguous(); },
          "Whether the elements are contiguous, the last dimension fastest.")
      .def("__len__", [](const Array& array) { return array.tensor.dims() == 0 ? 0 : array.tensor.extent(0); })
      .def("__getitem__", get_item, nb::arg("index"), "A view: t[2:8], t[1, ::2].")
      .def(
          "reshape",
          [](const Array& array, const std::vector<std::int64_t>& shape) {
            return array.with(array.get().reshape(shape));
          },
          nb::arg("shape"), "The same elements under another shape, without a copy.")
      .def(
          "transpose", [](const Array& array, int a, int b) { return array.with(array.get().transpose(a, b)); },
          nb::arg("a") = 0, nb::arg("b") = 1, "Exchanges two dimensions.")
      .def(
          "permute",
          [](const Array& array, const std::vector<int>& order) { return array.with(array.get().permute(order)); },
          nb::arg("order"), "Dimension i of the result is dimension order[i] of this one.")
      .def(
          "reverse", [](const Array& array, int dim) { return array.with(array.get().reverse(dim)); },
          nb::arg("dim") = 0, "One dimension backwards.")
      .def(
          "reinterpret",
          [](const Array& array, const std::string& dtype) {
            return array.with(array.get().reinterpret(dtype_named(dtype)));
          },
          nb::arg("dtype"), "The same bytes as elements of another type.")
      .def(
          "numpy", [](const nb::object& self) { return nb::module_::import_("baton._dtypes").attr("to_numpy")(self); },
          nb::sig("def numpy(self) -> numpy.ndarray"), "An array over the memory of the tensor, without a copy.")
      .def("__dlpack__", to_dlpack)
      .def("__dlpack_device__",
           [](const Array& array) {
             const MemoryPlace place = array.memory ? array.memory->place() : MemoryPlace{};
             return nb::make_tuple(place.kind, place.device);
           })
      .def("__repr__", [](const Array& array) { return "<baton.Tensor " + array.tensor.describe() + ">"; });
  module.def(
      "view",
      [](const nb::object& object, bool writable) {
        return array_of(object, "the array", writable ? Writable::yes : Writable::no, Layout::strided, Lies::anywhere);
      },
      nb::arg("array"), nb::arg("writable") = false);
}

}  // namespace baton::python
