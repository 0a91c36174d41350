#include "graph_elements.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "place.hpp"

namespace baton::python {
namespace {

/// Calls `call` with the C++ type of such an element, as std::type_identity<T>.
template <class Call>
auto with_type_of(DType dtype, const char* remedy, const Call& call) {
  switch (dtype) {
    case DType::float32: return call(std::type_identity<float>());
    case DType::int32: return call(std::type_identity<std::int32_t>());
    case DType::int16: return call(std::type_identity<std::int16_t>());
    case DType::int8: return call(std::type_identity<std::int8_t>());
    case DType::uint8: return call(std::type_identity<std::uint8_t>());
    case DType::int64: return call(std::type_identity<std::int64_t>());
    case DType::uint64: return call(std::type_identity<std::uint64_t>());
    case DType::uint16: return call(std::type_identity<std::uint16_t>());
    case DType::uint32: return call(std::type_identity<std::uint32_t>());
    case DType::boolean: return call(std::type_identity<bool>());
    case DType::float16:
    case DType::bfloat16: break;
  }
  throw Error(Code::unsupported, fmt::format("Python has no single element of {}", name_of(dtype)), {remedy});
}

constexpr const char* kTakeTheBits = "use .reinterpret('uint16') and convert the bits";

std::vector<std::byte> element_bytes(DType dtype, nb::handle given) {
  constexpr const char* kRemedy = "fill an output of uint16 with the bits, and use .reinterpret()";
  return with_type_of(dtype, kRemedy, [&]<class T>(std::type_identity<T>) {
    const auto value = nb::cast<T>(given);
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  });
}

/// One element, as a tensor of one dimension.
Tensor element_of(const Array& array, const nb::args& position) {
  Tensor element = array.get();
  if (position.size() != static_cast<std::size_t>(element.dims())) {
    throw Error(Code::invalid_argument,
                fmt::format("{} numbers for an element of {}", position.size(), element.describe()));
  }
  for (std::size_t i = 0; i + 1 < position.size(); ++i) element = element.index(nb::cast<std::int64_t>(position[i]));
  const auto last = nb::cast<std::int64_t>(position[position.size() - 1]);
  return element.slice(last, last + 1);
}

}  // namespace

Array output(GraphHandle& handle, const std::vector<std::int64_t>& shape, const std::string& dtype_name,
             const nb::object& fill) {
  const DType dtype = dtype_named(dtype_name);
  std::int64_t bytes = static_cast<std::int64_t>(size_of(dtype));
  for (const std::int64_t extent : shape) {
    if (extent <= 0 || __builtin_mul_overflow(bytes, extent, &bytes)) {
      throw Error(Code::invalid_argument, fmt::format("an output cannot have a dimension of {} elements", extent));
    }
  }
  const Place where = calling_place();
  Graph& graph = handle.graph();
  const std::vector<std::byte> value = fill.is_none() ? std::vector<std::byte>() : element_bytes(dtype, fill);
  const auto make = [=](Graph& in) {
    return value.empty() ? in.output(dtype, shape, where) : in.filled_output(dtype, shape, value.data(), where);
  };
  if (handle.has_room(bytes)) return {make(graph), nullptr};
  // It may wait for tasks: where Ctrl-C can end that.
  const auto there = std::make_shared<Tensor>();
  handle.lent().run_there([=](Graph& lent) { *there = make(lent); });
  return {*there, nullptr};
}

nb::object get(GraphHandle& handle, const nb::object& tensor, const nb::args& position) {
  const Array array = array_of(tensor, "the tensor", Writable::no, Layout::strided, Lies::anywhere);
  const Tensor element = element_of(array, position);
  handle.host().use(array);
  return with_type_of(element.dtype(), kTakeTheBits, [&]<class T>(std::type_identity<T>) -> nb::object {
    const auto value = std::make_shared<T>();
    handle.lent().run_there([value, element](Graph& graph) { *value = graph.get<T>(element, {0}); });
    return nb::cast(*value);
  });
}

void set(GraphHandle& handle, const nb::object& tensor, const nb::args& position, const nb::object& value) {
  const Array array = array_of(tensor, "the tensor", Writable::yes, Layout::strided, Lies::anywhere);
  const Tensor element = element_of(array, position);
  handle.host().use(array);
  with_type_of(element.dtype(), kTakeTheBits, [&]<class T>(std::type_identity<T>) {
    const auto given = nb::cast<T>(value);
    handle.lent().run_there([given, element](Graph& graph) { graph.set<T>(element, {0}, given); });
  });
}

}  // namespace baton::python
