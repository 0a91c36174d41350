// The communication library of Ascend chips (HCCL), loaded with the first window.
//
// Declarations are written from the "HCOMM/HCCL" reference of CANN 9.1; each function has a page of its name there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/ascend/cann.hpp"

namespace baton::ascend {

/// HcclRootInfo: where the members of a communicator meet. All bytes are carried.
struct RootInfo {
  char bytes[4108] = {};
};

// clang-format off
#define BATON_HCCL_FUNCTIONS(X) \
  X(HcclGetRootInfo, (RootInfo* info)) \
  X(HcclCommInitRootInfo, (std::uint32_t size, const RootInfo* info, std::uint32_t rank, Handle* communicator)) \
  X(HcclCommDestroy, (Handle communicator))
// clang-format on

inline constexpr Result kHcclBusy = 20;

/// The functions of libhcomm.so, or libhccl.so, that are used here. Throws Error (unsupported) that says what is
/// missing.
struct Hccl {
  static const Hccl& get();

  /// Throws Error with the function, the number, its name and the vendor's text of this thread unless `result` is 0.
  void check(const char* function, Result result) const;
  /// The same as a value.
  [[nodiscard]] static Error error(const char* function, Result result);

#define BATON_HCCL_MEMBER(name, parameters) Result(*name) parameters;
  BATON_HCCL_FUNCTIONS(BATON_HCCL_MEMBER)
#undef BATON_HCCL_MEMBER

 private:
  Hccl();
};

}  // namespace baton::ascend
