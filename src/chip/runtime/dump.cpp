#include "chip/runtime/dump.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <vector>

#include <tensor.h>
#include <baton/dtype.hpp>
#include <pto/common/bfloat16.hpp>

#include "base/fail.hpp"
#include "chip/cores/npy_file.hpp"

namespace baton::chip {
namespace {

/// NumPy's word for an element. It has none for bfloat16, which becomes float.
const char* numpy_word(DType dtype) {
  switch (dtype) {
    case DType::float32:
    case DType::bfloat16: return "<f4";
    case DType::float16: return "<f2";
    case DType::int8: return "|i1";
    case DType::int16: return "<i2";
    case DType::int32: return "<i4";
    case DType::int64: return "<i8";
    case DType::uint8: return "|u1";
    case DType::uint16: return "<u2";
    case DType::uint32: return "<u4";
    case DType::uint64: return "<u8";
    case DType::boolean: return "|b1";
  }
  return "|u1";
}

/// Row by row: the elements of the last dimension, gathered.
class Rows {
 public:
  Rows(const ChipTensor& tensor, const std::byte* elements)
      : tensor_(tensor), elements_(elements), bytes_(size_of(static_cast<DType>(tensor.dtype))) {}

  void write_to(NpyFile& file) {
    if (tensor_.extent_elem_cache == 0) return;
    std::vector<std::byte> row(tensor_.shapes[last()] * bytes_);
    do {
      gather(row);
      if (static_cast<DType>(tensor_.dtype) == DType::bfloat16) {
        const std::vector<float> wider = widen(row);
        file.write(wider.data(), wider.size() * sizeof(float));
      } else {
        file.write(row.data(), row.size());
      }
    } while (next());
  }

 private:
  [[nodiscard]] std::size_t last() const noexcept { return tensor_.ndims - 1; }

  void gather(std::vector<std::byte>& row) const {
    std::size_t offset = 0;
    for (std::size_t dim = 0; dim < last(); ++dim) offset += std::size_t{position_[dim]} * tensor_.strides[dim];
    const std::byte* const first = elements_ + offset * bytes_;
    const std::size_t step = tensor_.strides[last()];
    if (step == 1) {
      std::memcpy(row.data(), first, row.size());
      return;
    }
    for (std::size_t i = 0; i < tensor_.shapes[last()]; ++i) {
      std::memcpy(row.data() + i * bytes_, first + i * step * bytes_, bytes_);
    }
  }
  [[nodiscard]] static std::vector<float> widen(const std::vector<std::byte>& row) {
    std::vector<float> wider(row.size() / sizeof(bfloat16_t));
    for (std::size_t i = 0; i < wider.size(); ++i) {
      bfloat16_t element;
      std::memcpy(&element, row.data() + i * sizeof element, sizeof element);
      wider[i] = element;
    }
    return wider;
  }
  /// Whether there is one more row.
  bool next() noexcept {
    for (std::size_t dim = last(); dim-- > 0;) {
      if (++position_[dim] < tensor_.shapes[dim]) return true;
      position_[dim] = 0;
    }
    return false;
  }

  const ChipTensor& tensor_;
  const std::byte* elements_;
  std::size_t bytes_;
  std::array<std::uint32_t, 5> position_{};
};

}  // namespace

Dumps::Dumps(std::optional<std::string> folder, std::uint32_t rank) : folder_(std::move(folder)), rank_(rank) {
  if (!folder_) return;
  static std::atomic<std::uint64_t> chips{0};
  chip_ = chips.fetch_add(1, std::memory_order_relaxed);
  std::error_code error;
  std::filesystem::create_directories(*folder_, error);
  if (error) fail_system(fmt::format("making the folder {} for dumps", *folder_), error.value());
}

const std::string& Dumps::keep_name(std::string_view name) {
  std::string plain(name);
  for (char& c : plain) {
    const bool usual = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!usual && c != '.' && c != '_' && c != '-') c = '_';
  }
  return *names_.insert(std::move(plain)).first;
}

void Dumps::write(const ChipTensor& tensor, const std::byte* elements, const std::string& name,
                  std::uint64_t number) const {
  std::array<std::int64_t, 5> shape{};
  for (std::size_t i = 0; i < tensor.ndims; ++i) shape[i] = tensor.shapes[i];
  NpyFile file(fmt::format("{}/rank{}-chip{}-run{}-{:04}-{}.npy", *folder_, rank_, chip_, run_, number, name),
               numpy_word(static_cast<DType>(tensor.dtype)), {shape.data(), tensor.ndims});
  Rows(tensor, elements).write_to(file);
  file.close();
}

void dump_kernel(std::int64_t* args) {
  const auto& tensor = *reinterpret_cast<const ChipTensor*>(args[0]);
  const std::uint64_t first = tensor.buffer.addr + tensor.start_offset * size_of(static_cast<DType>(tensor.dtype));
  reinterpret_cast<const Dumps*>(args[1])->write(tensor, reinterpret_cast<const std::byte*>(first),
                                                 *reinterpret_cast<const std::string*>(args[2]),
                                                 static_cast<std::uint64_t>(args[3]));
}

}  // namespace baton::chip
