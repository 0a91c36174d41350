// What an algorithm is written in: a few verbs on the memory of the members, and the waits between them.
//
// An algorithm is a function over a Mover. The one of the host works on windows; tests have one that leaves a wait out.
// All waits throw when they cannot end: an algorithm has no failures of its own. Those in include/kernel/collectives
// are templates, because kernels run them with a mover of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <collectives/work.hpp>

namespace baton::collectives {

/// Pointers to something of each rank, without an allocation for the usual numbers of them.
class Sources {
 public:
  explicit Sources(int size) : size_(static_cast<std::size_t>(size)) {
    if (size_ > kFew) many_.resize(size_);
  }
  [[nodiscard]] const std::byte*& operator[](int index) noexcept { return data()[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const std::byte* operator[](int index) const noexcept {
    return (many_.empty() ? few_ : many_.data())[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] std::span<const std::byte* const> all() noexcept { return {data(), size_}; }

 private:
  static constexpr std::size_t kFew = 64;
  [[nodiscard]] const std::byte** data() noexcept { return many_.empty() ? few_ : many_.data(); }
  std::size_t size_;
  const std::byte* few_[kFew];
  std::vector<const std::byte*> many_;
};

class Mover {
 public:
  Mover(int rank, int size) noexcept : rank_(rank), size_(size) {}
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;
  virtual ~Mover() = default;

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }

  /// Contributions are small. offer() makes this rank's readable for those who have waited for it, with
  /// wait_announced() after its announce(), or at a meeting. It stays readable until all have finished this call.
  /// room() is where it goes, for writing it in parts.
  void offer(const std::byte* data, std::size_t bytes) { copy(room(), data, bytes); }
  [[nodiscard]] virtual std::byte* room() = 0;
  virtual void announce() = 0;
  virtual void wait_announced(int peer) = 0;
  /// Every member has waited for every other.
  virtual void all_announced() = 0;
  [[nodiscard]] virtual const std::byte* contribution(int peer) const = 0;

  /// A meeting. arrive() is true for one member, the last: after it has prepared what all may read in common(), it
  /// calls release(). The others wait_released().
  [[nodiscard]] virtual bool arrive() = 0;
  virtual void release() = 0;
  virtual void wait_released() = 0;
  [[nodiscard]] virtual std::byte* common() = 0;

  /// Steps of this round. step() says that this rank has made one more; a rank that has waited for it sees what this
  /// rank wrote before.
  virtual void step() = 0;
  virtual void wait_step(int peer, std::uint64_t steps) = 0;
  /// Whether wait_step() would return at once; for ranks with other work to do until then.
  [[nodiscard]] virtual bool has_made(int peer, std::uint64_t steps) const = 0;
  /// Steps are published to all in one word.
  void tell(int /*peer*/) const noexcept {}

  /// A meeting at which nothing is prepared.
  void meet() {
    if (arrive()) {
      release();
    } else {
      wait_released();
    }
  }

  /// Data. `to` of reduce() may be one of `from`; the order of `from` is the order of the operation. A divisor above 1
  /// divides the result.
  virtual void copy(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
  virtual void reduce(std::byte* to, std::span<const std::byte* const> from, std::size_t count, Element element,
                      ReduceOp op, std::uint32_t divisor) = 0;
  /// The same for `sources` sources, of which `source(i)` gives the address.
  template <class Source>
  void combine(std::byte* to, int sources, const Source& source, std::size_t count, const Work& work,
               std::uint32_t divisor) {
    Sources from(sources);
    for (int index = 0; index < sources; ++index) from[index] = source(index);
    reduce(to, from.all(), count, work.element, work.op, divisor);
  }
  [[nodiscard]] static std::byte* at(const View& view, int rank) noexcept { return view.parts[rank] + view.offset; }

 private:
  int rank_;
  int size_;
};

/// Waits for the contributions of all. Every member must do so.
inline void wait_all_announced(Mover& mover) {
  for (int peer = 0; peer < mover.size(); ++peer) {
    if (peer != mover.rank()) mover.wait_announced(peer);
  }
  mover.all_announced();
}

}  // namespace baton::collectives
