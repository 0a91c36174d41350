// Element types of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <baton/export.hpp>

namespace baton {

/// The numbers are those that kernels see (DataType in tensor.h).
enum class DType : std::uint8_t {
  float32,
  float16,
  int32,
  int16,
  int8,
  uint8,
  bfloat16,
  int64,
  uint64,
  uint16,
  uint32,
  boolean,
};

inline constexpr int kDTypeCount = 12;

/// Bytes of one element.
[[nodiscard]] constexpr std::size_t size_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::int8:
    case DType::uint8:
    case DType::boolean: return 1;
    case DType::float16:
    case DType::bfloat16:
    case DType::int16:
    case DType::uint16: return 2;
    case DType::float32:
    case DType::int32:
    case DType::uint32: return 4;
    case DType::int64:
    case DType::uint64: return 8;
  }
  return 1;
}

[[nodiscard]] BATON_API std::string_view name_of(DType dtype) noexcept;

namespace detail {
template <class T>
struct DTypeOf;
// clang-format off
template <> struct DTypeOf<float> { static constexpr DType kValue = DType::float32; };
template <> struct DTypeOf<std::int32_t> { static constexpr DType kValue = DType::int32; };
template <> struct DTypeOf<std::int16_t> { static constexpr DType kValue = DType::int16; };
template <> struct DTypeOf<std::int8_t> { static constexpr DType kValue = DType::int8; };
template <> struct DTypeOf<std::uint8_t> { static constexpr DType kValue = DType::uint8; };
template <> struct DTypeOf<std::byte> { static constexpr DType kValue = DType::uint8; };
template <> struct DTypeOf<std::int64_t> { static constexpr DType kValue = DType::int64; };
template <> struct DTypeOf<std::uint64_t> { static constexpr DType kValue = DType::uint64; };
template <> struct DTypeOf<std::uint16_t> { static constexpr DType kValue = DType::uint16; };
template <> struct DTypeOf<std::uint32_t> { static constexpr DType kValue = DType::uint32; };
template <> struct DTypeOf<bool> { static constexpr DType kValue = DType::boolean; };
// clang-format on
}  // namespace detail

/// The element type of a C++ type; does not compile for types that have none.
template <class T>
inline constexpr DType kDTypeOf = detail::DTypeOf<std::remove_cv_t<T>>::kValue;

}  // namespace baton
