#include "array.hpp"

#include <fmt/format.h>

#include <baton/error.hpp>

#include "lent_array.hpp"

namespace baton::python {

void Memory::check_alive() const {
  if (released_) throw Error(Code::released, "a tensor was used after its memory was freed");
}

void Memory::release(const std::string& what) {
  check_alive();
  if (exports_ > 0) {
    throw Error(Code::invalid_argument,
                fmt::format("{} cannot be freed: {} array{} use{} its memory", what, exports_, exports_ == 1 ? "" : "s",
                            exports_ == 1 ? "s" : ""),
                {"delete these arrays first, or let them and the tensor go out of scope together"});
  }
  released_ = true;
}

namespace {

Array array_anywhere(nb::handle object, const std::string& what, Writable need, Layout layout) {
  Array* own = nullptr;
  if (nb::try_cast(object, own) && own != nullptr) {
    static_cast<void>(own->get());
    if (need == Writable::yes && own->memory && !own->memory->writable()) {
      refuse_array(what, "is read-only, and would be written", "pass memory that may be written");
    }
    return *own;
  }
  if (nb::hasattr(object, "__baton_array__")) {
    return array_anywhere(object.attr("__baton_array__"), what, need, layout);
  }
  if (PyObject_CheckBuffer(object.ptr()) != 0) return from_buffer(object, what, need, layout);
  if (nb::hasattr(object, "__dlpack__")) return from_dlpack(object, what, layout);
  refuse_array(what, fmt::format("is a {}, not an array", Py_TYPE(object.ptr())->tp_name),
               "pass an array (numpy.asarray(x)), a tensor, or anything with the buffer protocol or DLPack");
}

}  // namespace

Array array_of(nb::handle object, const std::string& what, Writable need, Layout layout, Lies lies) {
  Array array = array_anywhere(object, what, need, layout);
  if (lies == Lies::on_host && array.memory && !array.memory->place().is_host()) {
    refuse_array(what, "is not in the memory of the host",
                 "copy it to the host, for example with chip.copy_out(x), or x.cpu() of PyTorch");
  }
  return array;
}

std::size_t bytes_of(const Array& array) noexcept {
  return static_cast<std::size_t>(array.tensor.element_count()) * size_of(array.tensor.dtype());
}

Array copied_to(const Array& to, nb::handle source) {
  return array_of(source, fmt::format("what is copied to a tensor of {}", name_of(to.get().dtype())), Writable::no);
}

Array copied_from(const Array& from, nb::handle target) {
  return array_of(target, fmt::format("what a tensor of {} is copied to", name_of(from.get().dtype())), Writable::yes);
}

void check_copy(const Array& to, const Array& from, const std::string& what) {
  const DType wanted = to.get().dtype();
  const DType given = from.get().dtype();
  if (given != wanted) {
    throw Error(Code::invalid_argument,
                fmt::format("{}: elements of {} cannot be copied to a tensor or an array of {}", what, name_of(given),
                            name_of(wanted)),
                {fmt::format("a copy converts nothing: convert first, for example with x.astype('{}'), or take the "
                             "bits with tensor.reinterpret('{}')",
                             name_of(wanted), name_of(given))});
  }
  if (to.tensor.element_count() != from.tensor.element_count()) {
    refuse_array(what + ":", fmt::format("{} does not fit {}", from.tensor.describe(), to.tensor.describe()),
                 "pass as many elements as there are on the other side, for example a slice");
  }
  if (!to.tensor.is_contiguous() || !from.tensor.is_contiguous()) {
    refuse_array(what + ":", "a tensor with gaps is not copied as a whole",
                 "copy its parts, or use numpy.asarray(tensor)[...] = x");
  }
}

}  // namespace baton::python
