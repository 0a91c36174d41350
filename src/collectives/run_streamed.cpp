// Operations with a root, staged: who has data writes it into its ring of pieces and goes on, who needs it takes it
// out.
//
//   giver   write piece ─> step ─> write piece ─> step ...      waits only where the ring is full
//   taker   wait for a step ─> take piece ─> step ...
//
// Broadcast and scatter have one giver, the root; of a gather or reduce it is the one taker. It copies its own block
// while it would wait otherwise. Nobody waits at the end: a rank asks when it uses its ring again.
#include <algorithm>

#include "collectives/run.hpp"

namespace baton::collectives {
namespace {

class StreamedRun {
 public:
  StreamedRun(HostMover& host, Mover& mover, const Request& request)
      : host_(host),
        mover_(mover),
        request_(request),
        call_(request.call),
        element_bytes_(size_of(call_.element)),
        others_(call_.operation == Operation::scatter ? host.size() - 1 : 1),
        room_(room()),
        piece_(room_.bytes / static_cast<std::size_t>(others_) / element_bytes_) {
    const bool is_scatter = call_.operation == Operation::scatter;
    if (host.rank() != call_.root || !(is_scatter || call_.operation == Operation::gather)) return;
    own_from_ = is_scatter ? block_at(request.in.address(), host.rank(), block_bytes()) : request.in.address();
    own_to_ = is_scatter ? request.out.address() : block_at(request.out.address(), host.rank(), block_bytes());
    if (own_from_ != own_to_) own_left_ = block_bytes();
  }

  void run() {
    if (piece_ == 0) throw_too_many(host_, call_);
    const bool is_root = host_.rank() == call_.root;
    const bool root_takes = call_.operation == Operation::gather || call_.operation == Operation::reduce;
    const bool gives = is_root != root_takes;
    host_.begin_stream(gives);
    if (gives) {
      give(is_root);
    } else {
      take(is_root);
    }
    while (copy_some_of_own()) {
    }
  }

 private:
  /// The ring as this call uses it: how many pieces at a time, and of how many bytes.
  struct Room {
    std::size_t pieces;
    std::size_t bytes;
  };
  [[nodiscard]] Room room() const noexcept {
    constexpr std::size_t kFew = 4;
    constexpr std::size_t kLeast = std::size_t{8} * 1024;
    const StagingRing& ring = host_.ring();
    const std::size_t all = ring.pieces * ring.piece_bytes;
    if (host_.size() == 2) {
      // Both run at the same time: of a short call, too, one takes what it can while the other still gives.
      const std::size_t share = (block_bytes() / kFew + kLine - 1) / kLine * kLine;
      const std::size_t bytes = std::min(std::max(share, kLeast), ring.piece_bytes);
      return {all / bytes, bytes};
    }
    // A piece of several blocks has as much in each as one of a single block, as long as there is room for a few.
    const auto blocks = static_cast<std::size_t>(others_);
    const std::size_t pieces = std::max(std::min(ring.pieces, kFew), ring.pieces / blocks);
    return {pieces, std::min(all / pieces, blocks * ring.piece_bytes)};
  }

  [[nodiscard]] std::uint64_t pieces() const noexcept { return (call_.count + piece_ - 1) / piece_; }
  [[nodiscard]] std::size_t first_byte(std::uint64_t piece) const noexcept { return piece * piece_ * element_bytes_; }
  [[nodiscard]] std::size_t bytes(std::uint64_t piece) const noexcept {
    return std::min(piece_, call_.count - piece * piece_) * element_bytes_;
  }
  [[nodiscard]] std::size_t block_bytes() const noexcept { return call_.count * element_bytes_; }

  /// Where a piece for `taker` lies in the ring of `giver`.
  [[nodiscard]] std::byte* place(int giver, int taker, std::uint64_t piece) const noexcept {
    const int block = others_ == 1 ? 0 : taker - (taker > giver ? 1 : 0);
    const std::uint64_t first = host_.first_piece() * std::max<std::size_t>(host_.ring().piece_bytes / room_.bytes, 1);
    return host_.staging(giver) + (first + piece) % room_.pieces * room_.bytes +
           static_cast<std::size_t>(block) * piece_ * element_bytes_;
  }

  template <class Body>
  void for_each_other(const Body& body) const {
    for (int rank = 0; rank < host_.size(); ++rank) {
      if (rank != host_.rank()) body(rank);
    }
  }

  void give(bool to_all) {
    for (std::uint64_t piece = 0; piece < pieces(); ++piece) {
      if (piece >= room_.pieces) wait_for_room(to_all, piece - room_.pieces + 1);
      const std::byte* from = request_.in.address() + first_byte(piece);
      if (call_.operation == Operation::scatter) {
        for_each_other([&](int taker) {
          mover_.copy(place(host_.rank(), taker, piece), block_at(from, taker, block_bytes()), bytes(piece));
        });
      } else {
        mover_.copy(place(host_.rank(), call_.root, piece), from, bytes(piece));
      }
      mover_.step();
    }
  }

  void wait_for_room(bool to_all, std::uint64_t taken) {
    if (to_all) {
      for_each_other([&](int taker) { wait_step(taker, taken); });
    } else {
      wait_step(call_.root, taken);
    }
  }

  void wait_step(int peer, std::uint64_t steps) {
    while (!mover_.has_made(peer, steps) && copy_some_of_own()) {
    }
    mover_.wait_step(peer, steps);
  }

  /// A piece of the block that the root gives to itself; false if nothing of it is left.
  bool copy_some_of_own() {
    if (own_left_ == 0) return false;
    const std::size_t now = std::min(own_left_, host_.ring().piece_bytes);
    mover_.copy(own_to_, own_from_, now);
    own_from_ += now;
    own_to_ += now;
    own_left_ -= now;
    return true;
  }

  void take(bool from_all) {
    for (std::uint64_t piece = 0; piece < pieces(); ++piece) {
      if (call_.operation == Operation::reduce) {
        reduce_piece(piece);
      } else if (from_all) {
        for_each_other(
            [&](int giver) { take_piece(giver, block_at(request_.out.address(), giver, block_bytes()), piece); });
      } else {
        take_piece(call_.root, request_.out.address(), piece);
      }
      if (piece + room_.pieces < pieces()) mover_.step();
    }
  }

  void reduce_piece(std::uint64_t piece) {
    for_each_other([&](int giver) { mover_.wait_step(giver, piece + 1); });
    Work work;
    work.element = call_.element;
    work.op = call_.op;
    const auto source = [&](int rank) -> const std::byte* {
      return rank == host_.rank() ? request_.in.address() + first_byte(piece) : place(rank, host_.rank(), piece);
    };
    mover_.combine(request_.out.address() + first_byte(piece), host_.size(), source, bytes(piece) / element_bytes_,
                   work, divisor_of(work, mover_));
  }

  void take_piece(int giver, std::byte* to, std::uint64_t piece) {
    wait_step(giver, piece + 1);
    mover_.copy(to + first_byte(piece), place(giver, host_.rank(), piece), bytes(piece));
  }

  HostMover& host_;
  Mover& mover_;
  const Request& request_;
  const Call& call_;
  std::size_t element_bytes_;
  /// Blocks of a piece, and elements in each.
  int others_;
  Room room_;
  std::size_t piece_;
  /// What is left of the block that stays on the root.
  const std::byte* own_from_ = nullptr;
  std::byte* own_to_ = nullptr;
  std::size_t own_left_ = 0;
};

}  // namespace

void run_streamed(HostMover& host, Mover& mover, const Request& request) { StreamedRun(host, mover, request).run(); }

}  // namespace baton::collectives
