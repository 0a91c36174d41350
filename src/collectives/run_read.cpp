// Read and write: everybody takes what it needs straight out of the memory of the others, or gives it there, by a call
// of the system. One copy instead of two through the staging area.
//
//   root    tell where ─> own block ─> wait for a step of each       broadcast, scatter; gather
//   others  wait for that ─> read, or write ─> step
//
//   rank    tell where ─> meet ─> read ─> meet                       with data of all
//
// Reductions work on shares, as in a mesh: each rank combines its share, which all read after a meeting. A rank that
// gives the call up closes a gate before it uses its memory for something else (write_gate.hpp). Cost: two hand-offs,
// or 2 b, and 3 b for an allreduce; N bytes copied by each rank.
#include <algorithm>
#include <cstring>

#include "collectives/run.hpp"

namespace baton::collectives {
namespace {

class ReadRun {
 public:
  ReadRun(HostMover& host, Mover& mover, const Request& request)
      : host_(host),
        mover_(mover),
        request_(request),
        call_(request.call),
        element_bytes_(size_of(call_.element)),
        block_bytes_(call_.count * element_bytes_) {}

  void run() {
    const int me = host_.rank();
    switch (call_.operation) {
      case Operation::broadcast:
        return with_root([&] { read(call_.root, addresses_of(call_.root).input, out(), block_bytes_); });
      case Operation::scatter:
        return with_root([&] {
          const std::byte* block = block_of_root(&Addresses::input);
          if (me == call_.root) return mover_.copy(out(), block, block_bytes_);
          read(call_.root, block, out(), block_bytes_);
        });
      case Operation::gather:
        if (me == call_.root) host_.memory().let_others_write();
        return with_root([&] {
          std::byte* block = block_of_root(&Addresses::output);
          if (me == call_.root) return mover_.copy(block, in(), block_bytes_);
          host_.memory().write(call_.root, in(), block, block_bytes_);
        });
      case Operation::allgather:
        return among_all([&] { read_blocks([](const Addresses& addresses) { return addresses.input; }); });
      case Operation::all_to_all:
        return among_all([&] {
          read_blocks([&](const Addresses& addresses) { return block_at(addresses.input, me, block_bytes_); });
        });
      case Operation::allreduce:
        return among_all([&] {
          reduce_share();
          mover_.meet();
          for_each_other([&](int peer) {
            const std::size_t at = share(peer).first * element_bytes_;
            read(peer, addresses_of(peer).output + at, out() + at, share(peer).count * element_bytes_);
          });
        });
      case Operation::reduce_scatter:
        return among_all([&] { reduce_range(call_.count * static_cast<std::size_t>(me), call_.count, out()); });
      case Operation::reduce:
      case Operation::all_to_all_v:
      case Operation::barrier: break;
    }
  }

 private:
  /// Where the data of a rank lies, in its own memory.
  struct Addresses {
    const std::byte* input;
    std::byte* output;
  };
  static_assert(sizeof(Addresses) == kAddressesBytes);

  [[nodiscard]] const std::byte* in() const noexcept { return request_.in.address(); }
  [[nodiscard]] std::byte* out() const noexcept { return request_.out.address(); }
  [[nodiscard]] Share share(int rank) const noexcept {
    return share_of(call_.count, element_bytes_, rank, host_.size());
  }

  /// What the root tells instead of its addresses if its blocks lie apart: where each of them is.
  void tell_blocks() {
    mover_.offer(reinterpret_cast<const std::byte*>(request_.blocks.data()), request_.blocks.size_bytes());
  }
  /// The root's block of this rank.
  template <class Address>
  [[nodiscard]] Address block_of_root(Address Addresses::*all) const {
    const int me = host_.rank();
    if (request_.form == Form::one_block) return block_at(addresses_of(call_.root).*all, me, block_bytes_);
    if (me == call_.root) return request_.blocks[static_cast<std::size_t>(me)];
    std::byte* block = nullptr;
    const std::byte* told = mover_.contribution(call_.root) + static_cast<std::size_t>(me) * sizeof block;
    host_.note_read(told, sizeof block);
    std::memcpy(&block, told, sizeof block);
    return block;
  }
  /// This rank's block of `rank`.
  [[nodiscard]] std::byte* block_from(int rank) const noexcept {
    if (request_.form == Form::one_block) return block_at(out(), rank, block_bytes_);
    return request_.blocks[static_cast<std::size_t>(rank)];
  }

  void tell_addresses() {
    const Addresses mine{in(), out()};
    mover_.offer(reinterpret_cast<const std::byte*>(&mine), sizeof mine);
  }
  [[nodiscard]] Addresses addresses_of(int rank) const {
    if (rank == host_.rank()) return {in(), out()};
    Addresses addresses;
    host_.note_read(mover_.contribution(rank), sizeof addresses);
    std::memcpy(&addresses, mover_.contribution(rank), sizeof addresses);
    return addresses;
  }

  void read(int peer, const std::byte* from, std::byte* to, std::size_t bytes) {
    if (peer != host_.rank()) host_.memory().read(peer, from, to, bytes);
  }

  template <class Body>
  void for_each_other(const Body& body) const {
    // From different ranks at the same time.
    for (int distance = 1; distance < host_.size(); ++distance) body(around(host_, distance));
  }

  template <class Copy>
  void with_root(const Copy& copy) {
    if (host_.rank() != call_.root) {
      mover_.wait_announced(call_.root);
      copy();
      mover_.step();
      return;
    }
    request_.form == Form::one_block ? tell_addresses() : tell_blocks();
    mover_.announce();
    copy();
    for_each_other([&](int peer) { mover_.wait_step(peer, 1); });
  }

  template <class Body>
  void among_all(const Body& body) {
    tell_addresses();
    mover_.meet();
    body();
    mover_.meet();
  }

  /// What each of the others has for this rank at `from(its addresses)`, by rank.
  template <class From>
  void read_blocks(const From& from) {
    for_each_other([&](int peer) { read(peer, from(addresses_of(peer)), block_from(peer), block_bytes_); });
    mover_.copy(block_from(host_.rank()), from(addresses_of(host_.rank())), block_bytes_);
  }

  /// This rank's share of the vectors of all, to the same place of its output.
  void reduce_share() {
    const Share mine = share(host_.rank());
    reduce_range(mine.first, mine.count, out() + mine.first * element_bytes_);
  }

  /// `count` elements from `first` on of the inputs of all, in pieces.
  void reduce_range(std::size_t first, std::size_t count, std::byte* to) {
    Work work;
    work.element = call_.element;
    work.op = call_.op;
    const std::size_t piece = bounce_bytes() / element_bytes_;
    for (std::size_t done = 0; done < count; done += piece) {
      const std::size_t now = std::min(piece, count - done);
      const std::size_t at = (first + done) * element_bytes_;
      for_each_other([&](int peer) { read(peer, addresses_of(peer).input + at, bounce(peer), now * element_bytes_); });
      const auto source = [&](int rank) -> const std::byte* { return rank == host_.rank() ? in() + at : bounce(rank); };
      mover_.combine(to + done * element_bytes_, host_.size(), source, now, work, divisor_of(work, mover_));
    }
  }

  /// Room for a piece of each rank. A call of the system for each piece should be worth it, and all should fit into a
  /// cache.
  [[nodiscard]] std::size_t bounce_bytes() const noexcept {
    constexpr std::size_t kAll = std::size_t{512} * 1024;
    constexpr std::size_t kMost = std::size_t{128} * 1024;
    constexpr std::size_t kLeast = std::size_t{16} * 1024;
    return std::clamp(kAll / static_cast<std::size_t>(host_.size()) / kLine * kLine, kLeast, kMost);
  }
  [[nodiscard]] std::byte* bounce(int rank) const {
    return host_.memory().bounce(bounce_bytes() * static_cast<std::size_t>(host_.size())) +
           bounce_bytes() * static_cast<std::size_t>(rank);
  }

  HostMover& host_;
  Mover& mover_;
  const Request& request_;
  const Call& call_;
  std::size_t element_bytes_;
  std::size_t block_bytes_;
};

}  // namespace

void run_read(HostMover& host, Mover& mover, const Request& request) { ReadRun(host, mover, request).run(); }

}  // namespace baton::collectives
