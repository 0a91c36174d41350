// A rank with a chip, for scenarios: kernels compiled at run time, tensors, windows, calls.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <baton/chip.hpp>
#include <baton/domain.hpp>
#include <baton/kernel_source.hpp>

namespace baton::test {

/// A kernel of sources/SOURCE.cpp, compiled (once per process; once on this machine, thanks to the cache).
[[nodiscard]] const LoadedKernel& kernel_of(std::string_view source, std::string_view name = "kernel_entry");

/// Of the kernels of sources/talk.cpp.
enum : std::int64_t { kAdd = 0, kSet = 1 };
inline constexpr std::int64_t kAllRanks = -1;

class ChipRank;

/// Floats of the host that a chip has a tensor for: copied there before a kernel that takes them, and back behind it.
class Numbers {
 public:
  Numbers(ChipRank& rank, std::size_t count, std::string_view name);
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  ~Numbers();

  [[nodiscard]] float& operator[](std::size_t i) { return data_[i]; }
  [[nodiscard]] std::size_t size() const noexcept { return data_.size(); }
  [[nodiscard]] const Tensor& tensor() const noexcept { return tensor_; }
  void send() const;
  void fetch();

 private:
  Chip& chip_;
  std::vector<float> data_;
  Tensor tensor_;
};

/// This rank's part of a window of chips.
template <class T>
class Room {
 public:
  Room(Chip& chip, const Domain& domain, std::string_view name, std::size_t count)
      : window_(chip.window(domain, name, count * sizeof(T))), count_(count) {}

  [[nodiscard]] const ChipWindow& window() const noexcept { return window_; }
  [[nodiscard]] std::int64_t context() const { return reinterpret_cast<std::int64_t>(window_.context()); }
  /// Where kernels find element `i`.
  [[nodiscard]] std::int64_t at(std::size_t i = 0) const {
    return reinterpret_cast<std::int64_t>(window_.local() + i * sizeof(T));
  }
  [[nodiscard]] const std::int32_t* signal(std::size_t i) const {
    return reinterpret_cast<const std::int32_t*>(window_.local()) + i;
  }
  [[nodiscard]] Tensor tensor() const { return Tensor::over(std::span(reinterpret_cast<T*>(window_.local()), count_)); }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(count_);
    window_.copy_out(values.data(), 0, count_ * sizeof(T));
    return values;
  }
  void write(const std::vector<T>& values) const { window_.copy_in(0, values.data(), values.size() * sizeof(T)); }
  void release() { window_ = {}; }

 private:
  ChipWindow window_;
  std::size_t count_;
};

/// An argument of a kernel.
struct Given {
  Given(Numbers& given) : numbers(&given) {}      // NOLINT(google-explicit-constructor)
  Given(const Tensor& given) : tensor(&given) {}  // NOLINT(google-explicit-constructor)
  Given(std::int64_t given) : scalar(given) {}    // NOLINT(google-explicit-constructor)

  Numbers* numbers = nullptr;
  const Tensor* tensor = nullptr;
  std::int64_t scalar = 0;
};

/// The chip of one rank.
class ChipRank {
 public:
  explicit ChipRank(const Domain& me, int clusters = 0);

  [[nodiscard]] Chip& chip() noexcept { return chip_; }
  template <class T>
  [[nodiscard]] Room<T> room(const Domain& domain, std::string_view name, std::size_t count) {
    return Room<T>(chip_, domain, name, count);
  }

  /// Runs a kernel to its end, `blocks` blocks of it together; throws what went wrong. "talk" is the kernel of
  /// sources/talk.cpp, "talk:put" the one of that name there.
  void run(const char* kernel, std::initializer_list<Given> arguments, int blocks = 1);
  /// The same when the signal has that value.
  void run_when(const std::int32_t* signal, std::int32_t value, const char* kernel,
                std::initializer_list<Given> arguments);

 private:
  void run_graph(const char* kernel, std::span<const Given> arguments, int blocks, const std::int32_t* signal,
                 std::int32_t value);

  Chip chip_;
};

}  // namespace baton::test
