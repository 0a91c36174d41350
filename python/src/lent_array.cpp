#include "lent_array.hpp"

#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nanobind/ndarray.h>

#include <baton/error.hpp>

#include "gil.hpp"

namespace baton::python {
namespace {

/// Memory that a Python object lends through the buffer protocol.
class LentBuffer final : public Memory {
 public:
  LentBuffer(const Py_buffer& view, const Buffer& whole, nb::object owner, Writable writable)
      : Memory(whole, writable), view_(view), owner_(std::move(owner)) {}
  ~LentBuffer() override {
    const Locked locked;
    PyBuffer_Release(&view_);
    owner_.reset();
  }
  [[nodiscard]] bool is_external() const noexcept override { return true; }

 private:
  Py_buffer view_;
  nb::object owner_;
};

/// Memory that a Python object lends through DLPack.
class LentTensor final : public Memory {
 public:
  LentTensor(nb::ndarray<> array, const Buffer& whole, Writable writable)
      : Memory(whole, writable), place_{array.device_type(), array.device_id()}, array_(std::move(array)) {}
  ~LentTensor() override {
    const Locked locked;
    array_ = {};
  }
  [[nodiscard]] bool is_external() const noexcept override { return true; }
  [[nodiscard]] MemoryPlace place() const noexcept override { return place_; }

 private:
  MemoryPlace place_;
  nb::ndarray<> array_;
};

/// A view as both protocols describe it. Strides count elements.
struct Described {
  char* data;
  DType dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
};

void check_shape(const std::string& what, const Described& given, Layout layout) {
  if (given.shape.size() > static_cast<std::size_t>(kMaxDims)) {
    refuse_array(what, fmt::format("has {} dimensions; tensors have at most {}", given.shape.size(), kMaxDims),
                 "reshape it, for example with .reshape(-1)");
  }
  std::int64_t expected = 1;
  for (std::size_t i = given.shape.size(); i-- > 0;) {
    if (given.shape[i] == 0) refuse_array(what, "has no elements", "leave it out, or pass at least one element");
    if (layout == Layout::contiguous && given.shape[i] != 1 && given.strides[i] != expected) {
      refuse_array(what, "is not contiguous",
                   "pass numpy.ascontiguousarray(x), a copy; or baton.view(x) if the kernel follows strides");
    }
    expected *= given.shape[i];
  }
}

/// The tensor, and the part of memory that it reaches.
Tensor tensor_of(const Described& given, const Buffer& whole) {
  const std::uint64_t from = reinterpret_cast<std::uint64_t>(given.data) - whole.address;
  const auto offset = static_cast<std::int64_t>(from / size_of(given.dtype));
  if (from % size_of(given.dtype) != 0) {
    throw Error(Code::misaligned, "an array does not start at a multiple of its element size");
  }
  if (given.shape.empty()) {
    const std::int64_t one[] = {1};
    return {whole, given.dtype, one, one, offset};
  }
  return {whole, given.dtype, given.shape, given.strides, offset};
}

Buffer reach_of(const Described& given) {
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (std::size_t i = 0; i < given.shape.size(); ++i) {
    const std::int64_t span = (given.shape[i] - 1) * given.strides[i];
    (span < 0 ? low : high) += span;
  }
  const auto size = static_cast<std::int64_t>(size_of(given.dtype));
  return {.address = reinterpret_cast<std::uint64_t>(given.data + low * size),
          .bytes = static_cast<std::uint64_t>((high - low + 1) * size)};
}

bool holds(const Buffer& whole, const Buffer& part) {
  return whole.address <= part.address && part.address + part.bytes <= whole.address + whole.bytes;
}

/// The array that `object` is a view of, so that views of one array are seen to share their memory.
nb::object root_of(nb::handle object) {
  nb::object root = nb::borrow(object);
  while (nb::hasattr(root, "base")) {
    nb::object base = root.attr("base");
    if (base.is_none() || !base.type().is(root.type())) break;
    root = base;
  }
  return root;
}

Buffer whole_of(nb::handle root, const Buffer& reach) {
  Py_buffer view{};
  if (PyObject_GetBuffer(root.ptr(), &view, PyBUF_STRIDES) != 0) {
    PyErr_Clear();
    return reach;
  }
  Buffer whole{.address = reinterpret_cast<std::uint64_t>(view.buf), .bytes = static_cast<std::uint64_t>(view.len)};
  PyBuffer_Release(&view);
  return holds(whole, reach) ? whole : reach;
}

/// The buffer protocol has no bfloat16: such an array is taken as 16-bit numbers.
bool is_bfloat16(nb::handle object) {
  if (!nb::hasattr(object, "dtype") || !nb::hasattr(object, "view")) return false;
  const nb::object text = nb::steal(PyObject_Str(nb::object(object.attr("dtype")).ptr()));
  const char* name = text.is_valid() ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
  PyErr_Clear();
  return name != nullptr && std::string_view(name) == "bfloat16";
}

/// The tensor of ours that `root` is an array over, or null.
const Array* tensor_under(const nb::object& root) {
  if (!nb::hasattr(root, "base")) return nullptr;
  const nb::object base = root.attr("base");
  if (!PyMemoryView_Check(base.ptr())) return nullptr;
  PyObject* owner = PyMemoryView_GET_BUFFER(base.ptr())->obj;
  Array* own = nullptr;
  return owner != nullptr && nb::try_cast(nb::handle(owner), own) ? own : nullptr;
}

/// Where an object that knows DLPack says that its memory lies.
MemoryPlace place_of(nb::handle object) {
  if (!nb::hasattr(object, "__dlpack_device__")) return {};
  const nb::object place = object.attr("__dlpack_device__")();
  return {nb::cast<std::int32_t>(nb::int_(place[0])), nb::cast<std::int32_t>(nb::int_(place[1]))};
}

/// Nothing if chips do not have such elements.
std::optional<Described> described_by(const nb::ndarray<>& array) {
  const auto dtype = dtype_of_dlpack(array.dtype());
  if (!dtype) return std::nullopt;
  Described given{static_cast<char*>(array.data()), *dtype, {}, {}};
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    given.shape.push_back(static_cast<std::int64_t>(array.shape(i)));
    given.strides.push_back(array.stride(i));
  }
  return given;
}

/// Runs of a GPU come after what was begun on its default stream: the lender makes that one wait for its own.
nb::ndarray<> lent_by(nb::handle object) {
  constexpr int kDefaultStream = 1;  // of CUDA, for DLPack
  if (place_of(object).kind != MemoryPlace::kCuda) return nb::cast<nb::ndarray<>>(object);
  return nb::cast<nb::ndarray<>>(object.attr("__dlpack__")(nb::arg("stream") = kDefaultStream));
}

/// All memory that views of `object` share, if it tells: PyTorch has storages, CuPy the array that a view is of.
Buffer storage_of(nb::handle object, const Buffer& reach) {
  Buffer whole = reach;
  if (nb::hasattr(object, "untyped_storage")) {
    const nb::object storage = object.attr("untyped_storage")();
    whole = {.address = nb::cast<std::uint64_t>(storage.attr("data_ptr")()),
             .bytes = nb::cast<std::uint64_t>(storage.attr("nbytes")())};
  } else if (const nb::object root = root_of(object); !root.is(object) && nb::hasattr(root, "__dlpack__")) {
    const auto all = described_by(nb::cast<nb::ndarray<>>(root));
    if (all) whole = reach_of(*all);
  }
  return holds(whole, reach) ? whole : reach;
}

}  // namespace

[[noreturn]] void refuse_array(const std::string& what, const std::string& problem, const std::string& remedy) {
  throw Error(Code::invalid_argument, fmt::format("{} {}", what, problem), {remedy});
}

Array from_buffer(nb::handle object, const std::string& what, Writable need, Layout layout) {
  Py_buffer view{};
  Writable writable = Writable::yes;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE) != 0) {
    PyErr_Clear();
    writable = Writable::no;
    if (need == Writable::yes && PyObject_GetBuffer(object.ptr(), &view, PyBUF_STRIDES | PyBUF_FORMAT) == 0) {
      PyBuffer_Release(&view);
      refuse_array(what, "is read-only, and would be written", "pass a copy, x.copy(), or set x.flags.writeable");
    }
    if (need == Writable::yes || PyObject_GetBuffer(object.ptr(), &view, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
      PyErr_Clear();
      if (place_of(object) != MemoryPlace{}) return from_dlpack(object, what, layout);  // as CuPy's
      if (is_bfloat16(object)) {
        const nb::object bits = object.attr("view")("uint16");
        const Array numbers = from_buffer(bits, what, need, layout);
        return numbers.with(numbers.tensor.reinterpret(DType::bfloat16));
      }
      refuse_array(what, "does not show its memory", "pass a NumPy array, or a copy as one");
    }
  }
  const auto release = [](Py_buffer* held) { PyBuffer_Release(held); };
  std::unique_ptr<Py_buffer, decltype(release)> guard(&view, release);
  const auto dtype = dtype_of_format(view.format);
  if (!dtype) {
    const bool is_double = std::string_view(view.format) == "d";
    refuse_array(what,
                 fmt::format("has elements of {}, which chips do not have",
                             is_double ? "float64" : fmt::format("the format '{}'", view.format)),
                 "convert it, for example x.astype('float32')");
  }
  Described given{static_cast<char*>(view.buf), *dtype, {}, {}};
  for (int i = 0; i < view.ndim; ++i) given.shape.push_back(view.shape[i]);
  if (view.strides == nullptr) {  // contiguous; ctypes says it so
    given.strides.assign(given.shape.size(), 1);
    for (std::size_t i = given.shape.size(); i-- > 1;) given.strides[i - 1] = given.strides[i] * given.shape[i];
  } else {
    for (int i = 0; i < view.ndim; ++i) {
      if (view.strides[i] % view.itemsize != 0) {
        refuse_array(what, "has strides that are not multiples of its elements",
                     "pass numpy.ascontiguousarray(x), a copy");
      }
      given.strides.push_back(view.strides[i] / view.itemsize);
    }
  }
  check_shape(what, given, layout);
  const nb::object root = root_of(object);
  if (const Array* own = tensor_under(root); own != nullptr && own->memory) {
    own->memory->check_alive();
    Described ours = given;
    ours.data -= own->memory->array_shift();
    return {tensor_of(ours, own->tensor.buffer()), own->memory};
  }
  const Buffer whole = whole_of(root, reach_of(given));
  const Tensor tensor = tensor_of(given, whole);
  auto memory = std::make_shared<LentBuffer>(view, whole, root, writable);
  guard.release();
  return {tensor, std::move(memory)};
}

Array from_dlpack(nb::handle object, const std::string& what, Layout layout) {
  nb::ndarray<> array = lent_by(object);
  const auto given = described_by(array);
  if (!given) refuse_array(what, "has elements of a type that chips do not have", "convert it, for example to float32");
  check_shape(what, *given, layout);
  const Buffer whole = storage_of(object, reach_of(*given));
  const Tensor tensor = tensor_of(*given, whole);
  return {tensor, std::make_shared<LentTensor>(std::move(array), whole, Writable::yes)};
}

}  // namespace baton::python
