// All to all with blocks of different sizes. All ranks tell all what they send and expect, and the last to arrive
// checks all pairs, so that all fail alike. What a rank sends travels with that if it is little; otherwise as in a
// mesh.
#include <algorithm>
#include <cstring>
#include <numeric>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "collectives/direct.hpp"
#include "collectives/run.hpp"

namespace baton::collectives {
namespace {

class VectorRun {
 public:
  VectorRun(const Domain& me, HostMover& host, Mover& mover, const Request& request)
      : host_(host),
        mover_(mover),
        request_(request),
        bytes_(size_of(request.call.element)),
        direct_(request.out.window() != nullptr && request.out.window()->belongs_to(me)) {}

  void run(std::span<const std::size_t> send_counts, std::span<const std::size_t> receive_counts) {
    const std::size_t counts = 2 * send_counts.size() * sizeof(std::uint64_t);
    constexpr std::size_t kMostCounts = (kSlotBytes - sizeof(void*)) / 2 / sizeof(std::uint64_t);
    if (send_counts.size() > kMostCounts) {
      throw Error(Code::unsupported,
                  fmt::format("all_to_all_v of {} ranks; {} are possible", host_.size(), kMostCounts));
    }
    const std::byte* where = request_.in.address();
    header_bytes_ = counts + sizeof where;
    std::uint64_t details = hash_with(static_cast<std::uint64_t>(request_.algorithm), direct_ ? 1 : 0);
    if (direct_) details = hash_with(details, place_hash(*request_.out.window(), request_.out.address()));
    const std::size_t data = std::accumulate(send_counts.begin(), send_counts.end(), std::size_t{0}) * bytes_;
    // Never beside a record, whatever this rank has: all must look for it in the same place.
    const std::size_t contribution = std::max(kInlineBytes + 1, header_bytes_ + (fits(data) ? data : 0));
    host_.begin(request_.call, details, contribution, request_.timeout);
    std::byte* mine = mover_.room();
    std::memcpy(mine, send_counts.data(), counts / 2);
    std::memcpy(mine + counts / 2, receive_counts.data(), counts / 2);
    std::memcpy(mine + counts, &where, sizeof where);
    if (fits(data)) offer_blocks(mine + header_bytes_, send_counts, data);
    for (int rank = 0; rank < host_.size(); ++rank) rows_[rank] = mover_.contribution(rank);
    const Verdict verdict = meet();
    if (verdict.agree == 0) throw_disagreement();
    if (verdict.came_along != 0) {
      take_what_came_along();
    } else {
      // Most send about as much as others.
      host_.expect_traffic(2 * data * send_counts.size());
      move_blocks(verdict.longest);
    }
    host_.end();
  }

 private:
  static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));

  /// Whether a rank's blocks have room behind its counts. All know the counts of all, so all know whose have.
  [[nodiscard]] bool fits(std::size_t data) const noexcept {
    // Between two ranks that have processors a second hand-off costs less than copying more than this twice.
    constexpr std::size_t kMostOfTwo = std::size_t{2} * 1024;
    return header_bytes_ + data <= (direct_ && host_.size() == 2 ? kMostOfTwo : kSlotBytes);
  }

  /// What follows from the counts of all.
  struct Verdict {
    std::uint64_t agree = 1;
    std::uint64_t came_along = 1;
    std::uint64_t longest = 0;
  };

  /// Two judge for themselves; of more, the last one judges for all: it takes P^2 looks.
  [[nodiscard]] Verdict meet() {
    if (host_.size() == 2) {
      mover_.announce();
      wait_all_announced(mover_);
      return judge();
    }
    Verdict verdict;
    if (mover_.arrive()) {
      verdict = judge();
      std::memcpy(mover_.common(), &verdict, sizeof verdict);
      mover_.release();
    } else {
      mover_.wait_released();
      std::memcpy(&verdict, mover_.common(), sizeof verdict);
    }
    return verdict;
  }

  [[nodiscard]] Verdict judge() const {
    Verdict verdict;
    for (int from = 0; from < host_.size(); ++from) {
      std::size_t all = 0;
      for (int to = 0; to < host_.size(); ++to) {
        const std::size_t count = sends(from, to);
        if (count != expects(to, from)) verdict.agree = 0;
        verdict.longest = std::max<std::uint64_t>(verdict.longest, count);
        all += count;
      }
      if (!fits(all * bytes_)) verdict.came_along = 0;
    }
    return verdict;
  }

  [[nodiscard]] std::size_t sends(int from, int to) const { return count(from, static_cast<std::size_t>(to)); }
  [[nodiscard]] std::size_t expects(int to, int from) const {
    return count(to, static_cast<std::size_t>(host_.size()) + static_cast<std::size_t>(from));
  }
  [[nodiscard]] std::size_t count(int rank, std::size_t index) const {
    std::uint64_t value = 0;
    std::memcpy(&value, rows_[rank] + index * sizeof value, sizeof value);
    return value;
  }

  [[noreturn]] void throw_disagreement() const {
    for (int from = 0; from < host_.size(); ++from) {
      for (int to = 0; to < host_.size(); ++to) {
        if (sends(from, to) == expects(to, from)) continue;
        throw_counts_differ(from, sends(from, to), request_.call.element, to, expects(to, from));
      }
    }
    // Unreachable: a disagreement was found among the same numbers.
    throw Error(Code::mismatch, "ranks disagree about the sizes of blocks");
  }

  /// The blocks for others, contiguous. A rank's block for itself stays where it is.
  void offer_blocks(std::byte* room, std::span<const std::size_t> send_counts, std::size_t data) {
    const auto own = send_counts.begin() + host_.rank();
    const std::byte* from = request_.in.address();
    const std::size_t before = std::accumulate(send_counts.begin(), own, std::size_t{0}) * bytes_;
    const std::size_t behind = before + *own * bytes_;
    mover_.copy(room, from, before);
    mover_.copy(room + before, from + behind, data - behind);
    own_ = from + before;
  }

  void take_what_came_along() {
    std::byte* target = request_.out.address();
    for (int from = 0; from < host_.size(); ++from) {
      std::size_t before = 0;
      for (int to = 0; to < host_.rank(); ++to) before += to == from ? 0 : sends(from, to);
      const std::size_t block = sends(from, host_.rank()) * bytes_;
      mover_.copy(target, from == host_.rank() ? own_ : rows_[from] + header_bytes_ + before * bytes_, block);
      target += block;
    }
  }

  /// All have the same numbers, and so the same way.
  void move_blocks(std::size_t longest) {
    const Location location = direct_ ? Location::in_windows : Location::elsewhere;
    const Reach memory = host_.memory().is_open() ? Reach::all_ranks : Reach::this_rank;
    const std::size_t typical = longest * static_cast<std::size_t>(host_.size()) * bytes_;
    const AlgorithmInfo& chosen =
        choose_algorithm(request_.call, request_.algorithm, typical, host_.size(), location, memory);
    if (chosen.algorithm == Algorithm::read) return read();
    direct_ ? push() : exchange_pieces(longest);
  }

  /// Out of the memory of the others.
  void read() {
    for (int distance = 1; distance <= host_.size(); ++distance) {
      const int from = around(host_, distance);
      std::size_t before = 0;
      for (int rank = 0; rank < from; ++rank) before += expects(host_.rank(), rank);
      std::size_t others = 0;
      for (int to = 0; to < host_.rank(); ++to) others += sends(from, to);
      const std::byte* where = nullptr;
      std::memcpy(&where, rows_[from] + header_bytes_ - sizeof where, sizeof where);
      std::byte* to = request_.out.address() + before * bytes_;
      const std::size_t block = sends(from, host_.rank()) * bytes_;
      if (from == host_.rank()) {
        mover_.copy(to, where + others * bytes_, block);
      } else {
        host_.memory().read(from, where + others * bytes_, to, block);
      }
    }
    mover_.meet();
  }

  void push() {
    const std::vector<std::byte*> parts = parts_of(*request_.out.window(), host_.size());
    const auto offset = static_cast<std::size_t>(request_.out.address() - request_.out.window()->local());
    const std::byte* source = request_.in.address();
    for (int to = 0; to < host_.size(); ++to) {
      std::size_t before = 0;
      for (int from = 0; from < host_.rank(); ++from) before += expects(to, from);
      const std::size_t block = sends(host_.rank(), to) * bytes_;
      mover_.copy(parts[static_cast<std::size_t>(to)] + offset + before * bytes_, source, block);
      source += block;
    }
    mover_.meet();
  }

  void exchange_pieces(std::size_t longest) {
    const auto ranks = static_cast<std::size_t>(host_.size());
    const std::size_t piece = std::min(host_.staging_bytes() / ranks / bytes_, longest);
    if (piece == 0 && longest != 0) {
      throw Error(Code::unsupported, fmt::format("all_to_all_v of {} ranks needs a window", host_.size()));
    }
    for (std::size_t first = 0; first < longest; first += piece) {
      const std::size_t staging = host_.next_staging(ranks * piece * bytes_);
      std::byte* mine = host_.parts()[static_cast<std::size_t>(host_.rank())] + staging;
      const auto part = [&](std::size_t count) { return first >= count ? 0 : std::min(piece, count - first); };
      std::size_t before = 0;
      const std::byte* own = nullptr;
      for (int to = 0; to < host_.size(); ++to) {
        const std::size_t count = sends(host_.rank(), to);
        const std::byte* from = request_.in.address() + (before + std::min(first, count)) * bytes_;
        before += count;
        if (to == host_.rank()) {
          own = from;
        } else {
          mover_.copy(mine + static_cast<std::size_t>(to) * piece * bytes_, from, part(count) * bytes_);
        }
      }
      mover_.meet();
      before = 0;
      for (int from = 0; from < host_.size(); ++from) {
        const std::size_t count = expects(host_.rank(), from);
        const std::byte* theirs = host_.parts()[static_cast<std::size_t>(from)] + staging +
                                  static_cast<std::size_t>(host_.rank()) * piece * bytes_;
        mover_.copy(request_.out.address() + (before + std::min(first, count)) * bytes_,
                    from == host_.rank() ? own : theirs, part(count) * bytes_);
        before += count;
      }
    }
  }

  HostMover& host_;
  Mover& mover_;
  const Request& request_;
  std::size_t bytes_;
  bool direct_;
  std::size_t header_bytes_ = 0;
  const std::byte* own_ = nullptr;
  /// What each rank sends to all and expects of all, and its blocks if they fit.
  Sources rows_{host_.size()};
};

}  // namespace

void throw_counts_differ(int from, std::uint64_t sent, Element element, int to, std::uint64_t expected) {
  throw Error(Code::mismatch, fmt::format("rank {} sends {} {} to rank {}, which expects {}", from, sent,
                                          name_of(element), to, expected));
}

void run_all_to_all_v(const Domain& me, HostMover& host, Mover& mover, const Request& request,
                      std::span<const std::size_t> send_counts, std::span<const std::size_t> receive_counts) {
  VectorRun(me, host, mover, request).run(send_counts, receive_counts);
}

}  // namespace baton::collectives
