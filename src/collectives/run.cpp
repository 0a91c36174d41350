#include "collectives/run.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include <baton/error.hpp>

namespace baton::collectives {
namespace {

bool is_in(const Domain& me, const RawWindow* window) { return window != nullptr && window->belongs_to(me); }

/// A rank's whole contribution: what it would put into a slot.
std::size_t contribution_bytes(const Call& call, int ranks) {
  const std::size_t block = call.count * size_of(call.element);
  switch (call.operation) {
    case Operation::reduce_scatter:
    case Operation::scatter:
    case Operation::all_to_all: return block * static_cast<std::size_t>(ranks);
    case Operation::barrier:
    case Operation::broadcast:
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::allgather:
    case Operation::gather:
    case Operation::all_to_all_v: break;
  }
  return block;
}

/// Whether the algorithms of an operation that move data directly need the inputs, or the outputs, of others.
struct DirectNeeds {
  bool input;
  bool output;
};
DirectNeeds direct_needs(Operation operation) {
  switch (operation) {
    case Operation::allreduce:
    case Operation::reduce:
    case Operation::broadcast: return {true, true};
    case Operation::reduce_scatter:
    case Operation::scatter: return {true, false};
    case Operation::allgather:
    case Operation::gather:
    case Operation::all_to_all:
    case Operation::all_to_all_v:
    case Operation::barrier: break;
  }
  return {false, true};
}

/// One call on the way to its algorithm.
class Run {
 public:
  Run(const Domain& me, HostMover& host, Mover& mover, const Request& request)
      : host_(host),
        mover_(mover),
        request_(request),
        call_(request.call),
        element_bytes_(size_of(call_.element)),
        block_bytes_(call_.count * element_bytes_),
        bytes_(contribution_bytes(call_, host.size())),
        input_in_window_(is_in(me, request.in.window())),
        output_in_window_(is_in(me, request.out.window())) {
    const DirectNeeds needs = direct_needs(call_.operation);
    const bool one_buffer = request.in.address() == request.out.address();
    direct_ = (input_in_window_ || !needs.input) && (output_in_window_ || !needs.output) &&
              !(call_.operation == Operation::all_to_all && one_buffer);
    choose();
    if (algorithm_->needs == Needs::other_output && one_buffer) direct_ = false;
    if (algorithm_->needs == Needs::staged_input) direct_ = false;
  }

  void run() {
    const bool small = algorithm_->needs == Needs::contributions;
    host_.begin(call_, details(), small ? bytes_ : 0, request_.timeout);
    if (small) {
      algorithm_->run(mover_, whole());
    } else {
      host_.expect_traffic(traffic());
      direct_ ? run_direct() : run_staged();
    }
    host_.end();
  }

 private:
  void choose() {
    const Location location = direct_ ? Location::in_windows : Location::elsewhere;
    Choice& last = host_.last_choice(call_.operation);
    if (last.algorithm == nullptr || last.bytes != bytes_ || last.asked != request_.algorithm ||
        last.location != location) {
      last = {bytes_, request_.algorithm, location, choose(location)};
    }
    algorithm_ = last.algorithm;
    // Partial results of a reduction to one root must not end up in the buffers of the others.
    if (algorithm_->needs == Needs::outputs && call_.operation == Operation::reduce) direct_ = false;
  }

  [[nodiscard]] const AlgorithmInfo* choose(Location location) const {
    const AlgorithmInfo* chosen = nullptr;
    if (request_.algorithm == Algorithm::automatic) {
      chosen = &select_algorithm(call_.operation, bytes_, host_.size(), location);
    } else {
      chosen = find_algorithm(call_.operation, request_.algorithm);
      if (chosen == nullptr) {
        throw Error(Code::unsupported,
                    fmt::format("{} has no algorithm {}", name_of(call_.operation), name_of(request_.algorithm)));
      }
    }
    // What is too large for a slot takes the algorithm that takes everything.
    if (!takes(*chosen, bytes_)) chosen = find_algorithm(call_.operation, Algorithm::mesh);
    return chosen;
  }

  [[nodiscard]] std::uint64_t details() const {
    std::uint64_t hash = mix(static_cast<std::uint64_t>(algorithm_->algorithm), static_cast<std::uint64_t>(direct_));
    if (algorithm_->needs == Needs::contributions || !direct_) return hash;
    const DirectNeeds needs = direct_needs(call_.operation);
    if (needs.input) hash = mix(hash, place_hash(*request_.in.window(), request_.in.address()));
    if (needs.output) hash = mix(hash, place_hash(*request_.out.window(), request_.out.address()));
    return hash;
  }

  [[nodiscard]] Work whole() const {
    Work work;
    work.element = call_.element;
    work.element_bytes = element_bytes_;
    work.op = call_.op;
    work.root = call_.root;
    work.count = call_.count;
    // Algorithms write to inputs only where they are staged.
    work.input.mine = const_cast<std::byte*>(request_.in.address());
    work.output.mine = request_.out.address();
    work.input_stride = block_bytes_;
    work.output_stride = block_bytes_;
    return work;
  }

  void run_direct() {
    Work work = whole();
    std::vector<std::byte*> input_parts;
    std::vector<std::byte*> output_parts;
    const DirectNeeds needs = direct_needs(call_.operation);
    if (needs.input) {
      input_parts = parts_of(*request_.in.window(), host_.size());
      work.input.reach = Reach::all_ranks;
      work.input.parts = input_parts.data();
      work.input.offset = static_cast<std::size_t>(request_.in.address() - request_.in.window()->local());
    }
    if (needs.output) {
      output_parts = parts_of(*request_.out.window(), host_.size());
      work.output.reach = Reach::all_ranks;
      work.output.parts = output_parts.data();
      work.output.offset = static_cast<std::size_t>(request_.out.address() - request_.out.window()->local());
    }
    algorithm_->run(mover_, work);
  }

  /// What all ranks read and write, for operations that only copy. Reductions keep what they work on in the caches.
  [[nodiscard]] std::size_t traffic() const {
    const auto ranks = static_cast<std::size_t>(host_.size());
    const std::size_t vector = block_bytes_ * ranks;
    switch (call_.operation) {
      case Operation::broadcast: return vector;
      case Operation::gather: return 3 * vector;  // twice, but it gains earlier than the others, as was measured
      case Operation::scatter: return 2 * vector;
      case Operation::allgather: return (ranks + 1) * vector;
      case Operation::all_to_all: return 2 * ranks * vector;
      case Operation::reduce:
      case Operation::allreduce:
      case Operation::reduce_scatter:
      case Operation::all_to_all_v:
      case Operation::barrier: break;
    }
    return 0;
  }

  /// Whether blocks for all ranks lie in this rank's input, or in its output.
  [[nodiscard]] bool many_in() const { return bytes_ != block_bytes_ || call_.operation == Operation::all_to_all; }
  [[nodiscard]] bool many_out() const {
    return call_.operation == Operation::allgather || call_.operation == Operation::gather ||
           call_.operation == Operation::all_to_all;
  }
  /// Whether blocks arrive as they were sent, and one of this rank at itself.
  [[nodiscard]] bool moves_blocks() const { return many_out() || call_.operation == Operation::scatter; }
  [[nodiscard]] bool is_root() const { return host_.rank() == call_.root; }
  [[nodiscard]] bool has_input() const {
    return (call_.operation != Operation::broadcast && call_.operation != Operation::scatter) || is_root();
  }
  [[nodiscard]] bool wants_output() const {
    if (call_.operation == Operation::broadcast) return !is_root();
    return (call_.operation != Operation::reduce && call_.operation != Operation::gather) || is_root();
  }

  /// Piece by piece through the staging area, whose two halves take turns: while the others still read one piece, the
  /// next one is written.
  void run_staged() {
    if (algorithm_->algorithm == Algorithm::fetch) return run_streamed(host_, mover_, request_);
    const bool in_place = algorithm_->needs == Needs::outputs;
    const auto ranks = static_cast<std::size_t>(host_.size());
    const std::size_t places = algorithm_->algorithm == Algorithm::bruck ? 2 : 1;
    const std::size_t blocks = many_in() || (in_place && many_out()) ? places * ranks : 1;
    const std::size_t piece = host_.staging_bytes() / blocks / element_bytes_;
    if (piece == 0) throw_too_many(host_, call_);
    for (std::size_t first = 0; first < call_.count; first += piece) {
      if (first != 0) host_.begin_round();
      if (in_place) {
        run_piece_in_place(first, std::min(piece, call_.count - first));
      } else {
        run_piece(first, std::min(piece, call_.count - first));
      }
    }
  }

  [[nodiscard]] Work staged_work(std::size_t count) {
    Work work = whole();
    work.count = count;
    work.input.reach = Reach::all_ranks;
    work.input.parts = host_.parts().data();
    work.input.offset = host_.next_staging();
    work.input.mine = Mover::at(work.input, host_.rank());
    work.input_stride = count * element_bytes_;
    work.input_life = InputLife::until_next_meeting;
    return work;
  }

  void run_piece(std::size_t first, std::size_t count) {
    Work work = staged_work(count);
    if (has_input()) stage(work, first);
    work.output.mine = request_.out.address() + first * element_bytes_;
    algorithm_->run(mover_, work);
  }

  /// What others need of this rank's blocks, from element `first` on.
  void stage(Work& work, std::size_t first) {
    const bool keeps_own = algorithm_->needs == Needs::data && moves_blocks();
    const bool others_need_own = call_.operation == Operation::allgather || !wants_output();
    const int blocks = many_in() ? host_.size() : 1;
    for (int block = 0; block < blocks; ++block) {
      const std::byte* from = block_at(request_.in.address(), block, block_bytes_) + first * element_bytes_;
      const bool own = keeps_own && (block == host_.rank() || blocks == 1);
      if (own) work.own = from;
      if (!own || others_need_own) mover_.copy(block_at(work.input.mine, block, work.input_stride), from, work.bytes());
    }
  }

  /// The staged piece is input and output.
  void run_piece_in_place(std::size_t first, std::size_t count) {
    Work work = staged_work(count);
    // These algorithms have no meeting of their own, without which a half must not be used again.
    mover_.meet();
    work.output = work.input;
    work.output_stride = work.input_stride;
    const std::size_t own = many_out() ? static_cast<std::size_t>(host_.rank()) * work.output_stride : 0;
    if (has_input()) mover_.copy(work.input.mine + own, request_.in.address() + first * element_bytes_, work.bytes());
    work.input.mine += own;
    algorithm_->run(mover_, work);
    if (!wants_output()) return;
    const std::size_t blocks = many_out() ? static_cast<std::size_t>(host_.size()) : 1;
    for (std::size_t block = 0; block < blocks; ++block) {
      mover_.copy(request_.out.address() + block * block_bytes_ + first * element_bytes_,
                  work.output.mine + block * work.output_stride, work.bytes());
    }
  }

  HostMover& host_;
  Mover& mover_;
  const Request& request_;
  const Call& call_;
  std::size_t element_bytes_;
  std::size_t block_bytes_;
  std::size_t bytes_;
  bool input_in_window_;
  bool output_in_window_;
  bool direct_ = false;
  const AlgorithmInfo* algorithm_ = nullptr;
};

}  // namespace

std::vector<std::byte*> parts_of(const RawWindow& window, int ranks) {
  std::vector<std::byte*> parts(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) parts[static_cast<std::size_t>(rank)] = window.part(rank);
  return parts;
}

std::uint64_t place_hash(const RawWindow& window, const std::byte* address) {
  const std::uint64_t name = std::hash<std::string>{}(window.name());
  return mix(mix(name, window.bytes()), static_cast<std::uint64_t>(address - window.local()));
}

void throw_too_many(const HostMover& host, const Call& call) {
  throw Error(Code::unsupported, fmt::format("{} of {} ranks needs windows: the staging area has {} bytes",
                                             describe(call), host.size(), 2 * host.staging_bytes()));
}

void run(const Domain& me, HostMover& host, Mover& mover, const Request& request) {
  Run(me, host, mover, request).run();
}

}  // namespace baton::collectives
