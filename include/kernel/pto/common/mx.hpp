// Formats with shared scales (MX): their names are known, so that a kernel that uses them is told what is missing.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <stdint.h>
#include <type_traits>

struct float8_e4m3_t {
  uint8_t bits;
};
struct float8_e5m2_t {
  uint8_t bits;
};
struct float8_e8m0_t {
  uint8_t bits;
};
struct float4_e2m1x2_t {
  uint8_t bits;
};

namespace baton::kernel {

template <typename Element>
inline constexpr bool is_mx_element =
    std::is_same_v<Element, float8_e4m3_t> || std::is_same_v<Element, float8_e5m2_t> ||
    std::is_same_v<Element, float8_e8m0_t> || std::is_same_v<Element, float4_e2m1x2_t>;

template <typename... Types>
inline constexpr bool mx_is_supported = false;

}  // namespace baton::kernel

#define PTO_REFUSE_MX(NAME, ...) \
  static_assert(baton::kernel::mx_is_supported<__VA_ARGS__>, NAME ": MX formats are not supported")
