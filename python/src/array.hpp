// Memory that Python knows, as tensors: what owns it, who still uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <nanobind/nanobind.h>

#include <baton/memory_place.hpp>
#include <baton/tensor.hpp>

#include "dtype.hpp"

namespace baton::python {

namespace nb = nanobind;

enum class Writable : std::uint8_t { no, yes };

/// What keeps the memory of tensors alive. Touched with the GIL only.
class Memory {
 public:
  Memory(const Buffer& buffer, Writable writable) noexcept : buffer_(buffer), writable_(writable) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;

  [[nodiscard]] const Buffer& buffer() const noexcept { return buffer_; }
  [[nodiscard]] bool writable() const noexcept { return writable_ == Writable::yes; }
  [[nodiscard]] virtual MemoryPlace place() const noexcept { return {}; }
  /// A chip must be told of memory that is neither its own nor a window.
  [[nodiscard]] virtual bool is_external() const noexcept { return false; }

  /// Added to an address for arrays: memory that its owner may unmap is mapped a second time for them.
  [[nodiscard]] virtual std::uint64_t array_shift() const noexcept { return 0; }
  /// Added to an address for kernels: a window of a chip is elsewhere in the address space of its chip.
  [[nodiscard]] virtual std::uint64_t kernel_shift() const noexcept { return 0; }
  /// Why arrays cannot use the memory; null if they can.
  [[nodiscard]] virtual const char* why_no_array() const noexcept { return nullptr; }

  /// Arrays that use the memory directly: it cannot be freed under them.
  void add_export() noexcept { ++exports_; }
  void remove_export() noexcept { --exports_; }
  /// Throws Error unless the memory is there.
  void check_alive() const;
  /// Nobody may use it from now on. Throws Error while arrays do.
  void release(const std::string& what);

 private:
  Buffer buffer_;
  Writable writable_;
  bool released_ = false;
  int exports_ = 0;
};

/// A tensor of the module: a view, and what keeps its memory alive (nothing for tokens and outputs).
struct Array {
  Tensor tensor;
  std::shared_ptr<Memory> memory;

  [[nodiscard]] const Tensor& get() const {
    if (memory) memory->check_alive();
    return tensor;
  }
  [[nodiscard]] Array with(Tensor view) const { return {std::move(view), memory}; }
};

enum class Layout : std::uint8_t { contiguous, strided };
/// Which memory will do. A caller that takes any asks for its place before touching it.
enum class Lies : std::uint8_t { on_host, anywhere };

/// A tensor over the memory of `object`: one of ours, or anything with the buffer protocol or DLPack. Nothing is
/// copied. Throws Error, in the name of `what`, that says what to do with an object that has no such memory.
[[nodiscard]] Array array_of(nb::handle object, const std::string& what, Writable need,
                             Layout layout = Layout::contiguous, Lies lies = Lies::on_host);

/// What all its elements take, without gaps.
[[nodiscard]] std::size_t bytes_of(const Array& array) noexcept;

/// What a copy to `to`, or from `from`, has on its other side, as array_of().
[[nodiscard]] Array copied_to(const Array& to, nb::handle source);
[[nodiscard]] Array copied_from(const Array& from, nb::handle target);

/// A copy converts nothing: throws Error, in the name of `what`, unless both are contiguous and have the same type and
/// number of elements.
void check_copy(const Array& to, const Array& from, const std::string& what);

}  // namespace baton::python
