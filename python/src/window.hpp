// Windows as memory of tensors.
#pragma once

#include <memory>
#include <utility>

#include <baton/window.hpp>

#include "array.hpp"

namespace baton::python {

/// One rank's part of a window, which stays mapped for the tensors over it.
class WindowMemory final : public Memory {
 public:
  WindowMemory(RawWindow window, int rank)
      : Memory({.address = reinterpret_cast<std::uint64_t>(window.part(rank)), .bytes = window.bytes()}, Writable::yes),
        window_(std::move(window)) {}

  [[nodiscard]] const RawWindow& window() const noexcept { return window_; }
  /// Whether it is this rank's own part.
  [[nodiscard]] bool is_own() const { return reinterpret_cast<std::uint64_t>(window_.local()) == buffer().address; }

 private:
  RawWindow window_;
};

}  // namespace baton::python
