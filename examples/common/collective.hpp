// What the collectives of the examples are written in: lines of floats of any length, moved through tiles, their
// shares, and meetings of ranks.
#pragma once

#include <baton_kernel.hpp>
#include <pto/comm/pto_comm_inst.hpp>

namespace collective {

constexpr int kPiece = 2048;                                           // elements of a tile
constexpr int kPieceBytes = kPiece * static_cast<int>(sizeof(float));  // two tiles lie side by side
using Piece = pto::Tile<pto::TileType::Vec, float, 1, kPiece, pto::BLayout::RowMajor, 1, pto::DYNAMIC>;
using LineShape = pto::Shape<1, 1, 1, 1, pto::DYNAMIC>;
using LineStride = pto::Stride<1, 1, 1, 1, 1>;
template <typename Element>
using Line = pto::GlobalTensor<Element, LineShape, LineStride>;

template <typename Element>
AICORE inline Line<Element> line_at(Element* data, int64_t count) {
  return Line<Element>(data, LineShape(count), LineStride());
}

/// Calls body(first, count) for each piece that fits into a tile. Everything before a piece is finished when it begins,
/// and everything is finished when this returns.
template <typename Body>
AICORE inline void in_pieces(int64_t count, const Body& body) {
  for (int64_t first = 0; first < count; first += kPiece) {
    body(first, count - first < kPiece ? count - first : kPiece);
    pipe_barrier(PIPE_ALL);
  }
}

/// to = from, either of which may lie in the window of a peer.
AICORE inline void copy(float* to, const float* from, int64_t count) {
  in_pieces(count, [&](int64_t first, int64_t n) {
    Piece piece(n);
    TASSIGN(piece, 0);
    auto source = line_at(from + first, n);
    auto target = line_at(to + first, n);
    TLOAD(piece, source);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(target, piece);
  });
}

/// Puts a line into the window of a peer.
AICORE inline void put(float* to, const float* from, int64_t count) {
  in_pieces(count, [&](int64_t first, int64_t n) {
    Piece piece(n);
    TASSIGN(piece, 0);
    auto source = line_at(from + first, n);
    auto target = line_at(to + first, n);
    pto::comm::TPUT(target, source, piece);
  });
}

/// to += from, which may lie in the window of a peer.
AICORE inline void add(float* to, const float* from, int64_t count) {
  in_pieces(count, [&](int64_t first, int64_t n) {
    Piece sum(n), piece(n);
    TASSIGN(sum, 0);
    TASSIGN(piece, kPieceBytes);
    auto target = line_at(to + first, n);
    auto source = line_at(from + first, n);
    TLOAD(sum, target);
    TLOAD(piece, source);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(sum, sum, piece);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(target, sum);
  });
}

/// `count` elements cut into one share for each of `ranks`; the last ones may be shorter, or empty.
struct Shares {
  int64_t count;
  int ranks;

  AICORE int64_t most() const { return (count + ranks - 1) / ranks; }
  AICORE int64_t first(int share) const { return share * most() < count ? share * most() : count; }
  AICORE int64_t size(int share) const { return first(share + 1) - first(share); }
};

/// One rank's place in a domain, with its part of the window and its signals. Signals are never reset: they count on
/// from round to round.
struct Member {
  const CommContext* context;
  baton::InOut<float> window;
  baton::InOut<int32_t> signals;

  AICORE int rank() const { return static_cast<int>(context->rankId); }
  AICORE int ranks() const { return static_cast<int>(context->rankNum); }
  /// A rank, counted round the ring from this one.
  AICORE int neighbour(int distance) const { return ((rank() + distance) % ranks() + ranks()) % ranks(); }

  /// A window or signals with less room than this are an error.
  AICORE void need(int64_t floats, int64_t signal_count) const {
    (void)window.line(0, floats);
    (void)signals.line(0, signal_count);
  }
  /// This rank's part, from element `first` on.
  AICORE float* mine(int64_t first = 0) const { return window.data() + first; }
  /// The same place in the part of `peer`.
  AICORE float* theirs(int peer, int64_t first = 0) const {
    return pto::comm::CommRemotePtr(context, window.data(), peer) + first;
  }

  /// What this rank wrote before is there when the peer sees the signal.
  AICORE void notify(int peer, int index, int32_t value, pto::comm::NotifyOp op) const {
    pipe_barrier(PIPE_ALL);
    pto::comm::Signal there(pto::comm::CommRemotePtr(context, signals.data() + index, peer));
    pto::comm::TNOTIFY(there, value, op);
  }
  /// Adds 1 to a signal of `peer`.
  AICORE void count(int peer, int index) const { notify(peer, index, 1, pto::comm::NotifyOp::AtomicAdd); }
  AICORE void set(int peer, int index, int32_t value) const { notify(peer, index, value, pto::comm::NotifyOp::Set); }
  /// Returns when a signal of this rank is at least `value`.
  AICORE void wait(int index, int32_t value) const {
    pto::comm::Signal here(signals.data() + index);
    pto::comm::TWAIT(here, value, pto::comm::WaitCmp::GE);
    pipe_barrier(PIPE_ALL);
  }

  /// Returns when every rank has called it as often as this one: `times`, over all rounds, from 1 on.
  AICORE void meet(int index, int32_t times) const {
    for (int peer = 0; peer < ranks(); ++peer) count(peer, index);
    wait(index, times * ranks());
  }
};

}  // namespace collective
