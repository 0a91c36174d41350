// Collectives: what all ranks of a domain do together with their data.
//
// Every member makes the same calls in the same order. Data may lie anywhere; in a window of the domain the others
// reach it without a copy in between. After a call, every rank has the same bits, and has them again in the next run.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

#include <baton/collective_types.hpp>
#include <baton/domain.hpp>
#include <baton/export.hpp>
#include <baton/window.hpp>

namespace baton {

namespace detail {
template <class T>
struct ElementOf;
// clang-format off
template <> struct ElementOf<double> { static constexpr Element kValue = Element::float64; };
template <> struct ElementOf<float> { static constexpr Element kValue = Element::float32; };
template <> struct ElementOf<std::int8_t> { static constexpr Element kValue = Element::int8; };
template <> struct ElementOf<std::int16_t> { static constexpr Element kValue = Element::int16; };
template <> struct ElementOf<std::int32_t> { static constexpr Element kValue = Element::int32; };
template <> struct ElementOf<std::int64_t> { static constexpr Element kValue = Element::int64; };
template <> struct ElementOf<std::uint8_t> { static constexpr Element kValue = Element::uint8; };
template <> struct ElementOf<std::byte> { static constexpr Element kValue = Element::uint8; };
template <> struct ElementOf<std::uint16_t> { static constexpr Element kValue = Element::uint16; };
template <> struct ElementOf<std::uint32_t> { static constexpr Element kValue = Element::uint32; };
template <> struct ElementOf<std::uint64_t> { static constexpr Element kValue = Element::uint64; };
// clang-format on
template <class Range>
using ElementsOf = std::remove_pointer_t<decltype(std::data(std::declval<Range&>()))>;
template <class T>
inline constexpr bool kIsWindow = false;
template <class T>
inline constexpr bool kIsWindow<Window<T>> = true;
/// Contiguous elements: vector, span, array ...
template <class Range>
concept Contiguous = !kIsWindow<std::remove_cvref_t<Range>> && requires(Range & range) {
  ElementOf<std::remove_cv_t<ElementsOf<Range>>>::kValue;
  std::size(range);
};
}  // namespace detail

/// The element of a C++ type; does not compile for types that have none. 16-bit floats are named when Data is made.
template <class T>
inline constexpr Element kElementOf = detail::ElementOf<std::remove_cv_t<T>>::kValue;

/// Where the data of a collective is. A view: what it refers to must outlive the call.
template <class Byte>
class BasicData {
 public:
  BasicData() = default;
  /// Elements in any memory.
  BasicData(std::conditional_t<std::is_const_v<Byte>, const void*, void*> address, std::size_t count, Element element)
      : address_(static_cast<Byte*>(address)), count_(count), element_(element) {}
  /// Elements in this rank's own part of `window`, from `address` on. All ranks name the same place of the same window.
  BasicData(const RawWindow& window, void* address, std::size_t count, Element element)
      : address_(static_cast<Byte*>(address)), count_(count), element_(element), window_(&window) {}
  template <class T>
  BasicData(const Window<T>& window)  // NOLINT(google-explicit-constructor): data is passed as it is
      : BasicData(window, window.data(), window.size(), kElementOf<T>) {}
  template <detail::Contiguous Range>
  requires(std::is_const_v<Byte> || !std::is_const_v<detail::ElementsOf<Range>>)
      BasicData(Range&& range)  // NOLINT(google-explicit-constructor): data is passed as it is
      : BasicData(std::data(range), std::size(range), kElementOf<detail::ElementsOf<Range>>) {}
  /// What may be changed may be read.
  template <class Other>
  requires(std::is_const_v<Byte>&& std::is_same_v<Other, std::byte>)
      BasicData(const BasicData<Other>& other)  // NOLINT(google-explicit-constructor)
      : address_(other.address()), count_(other.count()), element_(other.element()), window_(other.window()) {}

  [[nodiscard]] Byte* address() const noexcept { return address_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] Element element() const noexcept { return element_; }
  /// Null for memory outside of windows.
  [[nodiscard]] const RawWindow* window() const noexcept { return window_; }

  /// `count` elements from element `first` on.
  [[nodiscard]] BasicData slice(std::size_t first, std::size_t count) const {
    BasicData part = *this;
    part.address_ = address_ + first * size_of(element_);
    part.count_ = count;
    return part;
  }

 private:
  Byte* address_ = nullptr;
  std::size_t count_ = 0;
  Element element_ = Element::uint8;
  const RawWindow* window_ = nullptr;
};
using Data = BasicData<std::byte>;
using ConstData = BasicData<const std::byte>;

struct CollectiveOptions {
  /// Every rank must name the same. BATON_COLLECTIVE sets it for a whole program.
  Algorithm algorithm = Algorithm::automatic;
  /// 0: Options::wait_timeout.
  std::chrono::nanoseconds timeout{0};
};

/// No rank returns before all have called.
BATON_API void barrier(const Domain& me, const CollectiveOptions& options = {});
/// Everybody gets what `root` has in `x`.
BATON_API void broadcast(const Domain& me, Data x, int root, const CollectiveOptions& options = {});
/// `root` gets the elements of all ranks, reduced. The others may leave `out` empty unless it is a window. With one
/// buffer: in place, and the others keep theirs.
BATON_API void reduce(const Domain& me, ConstData in, Data out, int root, ReduceOp op = ReduceOp::sum,
                      const CollectiveOptions& options = {});
BATON_API void reduce(const Domain& me, Data x, int root, ReduceOp op = ReduceOp::sum,
                      const CollectiveOptions& options = {});
/// Everybody gets the elements of all ranks, reduced.
BATON_API void allreduce(const Domain& me, ConstData in, Data out, ReduceOp op = ReduceOp::sum,
                         const CollectiveOptions& options = {});
BATON_API void allreduce(const Domain& me, Data x, ReduceOp op = ReduceOp::sum, const CollectiveOptions& options = {});
/// Rank r gets block r of the elements of all ranks, reduced. `in` has a block of `out`'s size for each rank; `out` may
/// be this rank's own block of `in`.
BATON_API void reduce_scatter(const Domain& me, ConstData in, Data out, ReduceOp op = ReduceOp::sum,
                              const CollectiveOptions& options = {});
/// Everybody gets the blocks of all ranks in `out`, by rank. `in` may be this rank's own block of `out`.
BATON_API void allgather(const Domain& me, ConstData in, Data out, const CollectiveOptions& options = {});
/// `root` gets the blocks of all ranks in `out`, which the others may leave empty unless it is a window.
BATON_API void gather(const Domain& me, ConstData in, Data out, int root, const CollectiveOptions& options = {});
/// Everybody gets its block of what `root` has in `in`, which the others may leave empty unless it is a window.
BATON_API void scatter(const Domain& me, ConstData in, Data out, int root, const CollectiveOptions& options = {});
/// The three above with blocks that lie anywhere, all of the same size, by rank. Ranks that are not the root may leave
/// the list empty. All ranks call this form.
BATON_API void allgather_blocks(const Domain& me, ConstData in, std::span<const Data> out,
                                const CollectiveOptions& options = {});
BATON_API void gather_blocks(const Domain& me, ConstData in, std::span<const Data> out, int root,
                             const CollectiveOptions& options = {});
BATON_API void scatter_blocks(const Domain& me, std::span<const ConstData> in, Data out, int root,
                              const CollectiveOptions& options = {});
/// Block r of `in` becomes this rank's block in the `out` of rank r. `in` and `out` may be the same.
BATON_API void all_to_all(const Domain& me, ConstData in, Data out, const CollectiveOptions& options = {});
/// The same with contiguous blocks of different sizes: `send_counts[r]` elements for rank r,
/// `receive_counts[r]` from it. `in` and `out` must not overlap.
BATON_API void all_to_all_v(const Domain& me, ConstData in, std::span<const std::size_t> send_counts, Data out,
                            std::span<const std::size_t> receive_counts, const CollectiveOptions& options = {});

/// From one rank to another, in the order of the calls. send() returns when `data` may be changed; up to a small size
/// it does not wait for the receiver. Both name the same number and kind of elements.
BATON_API void send(const Domain& me, int to, ConstData data, const CollectiveOptions& options = {});
BATON_API void recv(const Domain& me, int from, Data data, const CollectiveOptions& options = {});

}  // namespace baton
