#include "collectives/run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "base/log.hpp"
#include "collectives/direct.hpp"
#include "collectives/traced.hpp"

namespace baton::collectives {
namespace {

bool is_in(const Domain& me, const RawWindow* window) { return window != nullptr && window->belongs_to(me); }

Shape shape_of(const Domain& me, const Request& request) {
  const bool one_window = request.in.window() == request.out.window();
  const bool input_in_window = is_in(me, request.in.window());
  return {.count = request.call.count,
          .element = request.call.element,
          .asked = request.algorithm,
          .input_in_window = input_in_window,
          .output_in_window = one_window ? input_in_window : is_in(me, request.out.window()),
          .one_buffer = request.in.address() == request.out.address()};
}

/// Apart from the comparison with the last one, which is all that most calls need.
[[gnu::noinline]] Plan make_plan(const Shape& shape, const Call& call, const HostMover& host) {
  const int ranks = host.size();
  const DirectNeeds needs = direct_needs(call.operation);
  Plan plan{.shape = shape, .bytes = contribution_bytes(call, ranks)};
  // Blocks that arrive would replace others that have not been sent.
  const bool in_the_way = call.operation == Operation::all_to_all && shape.one_buffer;
  plan.direct = (shape.input_in_window || !needs.input) && (shape.output_in_window || !needs.output) && !in_the_way;
  const Location location = plan.direct ? Location::in_windows : Location::elsewhere;
  const Reach memory = host.memory().is_open() && !in_the_way ? Reach::all_ranks : Reach::this_rank;
  plan.algorithm = &choose_algorithm(call, shape.asked, plan.bytes, ranks, location, memory);
  switch (plan.algorithm->needs) {
    case Needs::outputs:
      // Partial results of a reduction to one root must not end up in the buffers of the others.
      if (call.operation == Operation::reduce) plan.direct = false;
      break;
    case Needs::other_output:
      if (shape.one_buffer) plan.direct = false;
      break;
    case Needs::staged_input:
    case Needs::memory: plan.direct = false; break;
    case Needs::contributions:
    case Needs::data: break;
  }
  return plan;
}

/// What all members must agree on besides the call.
std::uint64_t details_of(const Plan& plan) {
  return hash_with(static_cast<std::uint64_t>(plan.algorithm->algorithm), static_cast<std::uint64_t>(plan.direct));
}

Work whole(const Request& request) {
  const Call& call = request.call;
  Work work;
  work.element = call.element;
  work.element_bytes = size_of(call.element);
  work.op = call.op;
  work.root = call.root;
  work.count = call.count;
  // Algorithms write to inputs only where they are staged.
  work.input.mine = const_cast<std::byte*>(request.in.address());
  work.output.mine = request.out.address();
  work.input_stride = work.output_stride = work.bytes();
  return work;
}

/// What all ranks read and write, for operations that only copy. Reductions keep what they work on in the caches.
std::size_t traffic_of(const Call& call, int size) {
  const auto ranks = static_cast<std::size_t>(size);
  const std::size_t vector = call.count * size_of(call.element) * ranks;
  switch (call.operation) {
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

/// One call on the way to an algorithm that moves the data itself, not contributions.
class Run {
 public:
  Run(HostMover& host, Mover& mover, const Request& request, const Plan& plan)
      : host_(host),
        mover_(mover),
        request_(request),
        call_(request.call),
        plan_(plan),
        element_bytes_(size_of(call_.element)),
        block_bytes_(call_.count * element_bytes_) {}

  void run() {
    host_.begin(call_, details(), 0, request_.timeout);
    host_.expect_traffic(traffic_of(call_, host_.size()));
    plan_.direct ? run_direct() : run_staged();
  }

 private:
  [[nodiscard]] std::uint64_t details() const {
    std::uint64_t hash = details_of(plan_);
    if (!plan_.direct) return hash;
    const DirectNeeds needs = direct_needs(call_.operation);
    if (needs.input) hash = hash_with(hash, place_hash(*request_.in.window(), request_.in.address()));
    if (needs.output) hash = hash_with(hash, place_hash(*request_.out.window(), request_.out.address()));
    return hash;
  }

  void run_direct() {
    Work work = whole(request_);
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
    plan_.algorithm->run(mover_, work);
    host_.check_kept();
  }

  /// Whether blocks for all ranks lie in this rank's input, or in its output.
  [[nodiscard]] bool many_in() const { return plan_.bytes != block_bytes_ || call_.operation == Operation::all_to_all; }
  [[nodiscard]] bool many_out() const {
    return call_.operation == Operation::allgather || call_.operation == Operation::gather ||
           call_.operation == Operation::all_to_all;
  }
  [[nodiscard]] bool reduces_vectors() const {
    return call_.operation == Operation::allreduce || call_.operation == Operation::reduce;
  }
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
    if (plan_.algorithm->algorithm == Algorithm::fetch) return run_streamed(host_, mover_, request_);
    const bool in_place = plan_.algorithm->needs == Needs::outputs;
    const auto ranks = static_cast<std::size_t>(host_.size());
    const std::size_t places = plan_.algorithm->algorithm == Algorithm::bruck ? 2 : 1;
    staged_blocks_ = many_in() || (in_place && many_out()) ? places * ranks : 1;
    const std::size_t piece = host_.staging_bytes() / staged_blocks_ / element_bytes_;
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
    Work work = whole(request_);
    work.count = count;
    work.input.reach = Reach::all_ranks;
    work.input.parts = host_.parts().data();
    work.input.offset = host_.next_staging(staged_blocks_ * count * element_bytes_);
    work.input.mine = Mover::at(work.input, host_.rank());
    work.input_stride = count * element_bytes_;
    work.input_life = InputLife::until_next_meeting;
    return work;
  }

  void run_piece(std::size_t first, std::size_t count) {
    Work work = staged_work(count);
    if (has_input()) stage(work, first);
    work.output.mine = request_.out.address() + first * element_bytes_;
    plan_.algorithm->run(mover_, work);
  }

  /// What others need of this rank's blocks, from element `first` on.
  void stage(Work& work, std::size_t first) {
    const bool keeps_own = plan_.algorithm->needs == Needs::data && call_.operation != Operation::broadcast;
    if (keeps_own && reduces_vectors()) return stage_shares(work, first);
    const bool others_need_own = call_.operation == Operation::allgather || !wants_output();
    const int blocks = many_in() ? host_.size() : 1;
    for (int block = 0; block < blocks; ++block) {
      const std::byte* from = block_at(request_.in.address(), block, block_bytes_) + first * element_bytes_;
      const bool own = keeps_own && (block == host_.rank() || blocks == 1);
      if (own) work.own = from;
      if (!own || others_need_own) mover_.copy(block_at(work.input.mine, block, work.input_stride), from, work.bytes());
    }
  }

  /// The shares of a vector that others reduce.
  void stage_shares(Work& work, std::size_t first) {
    work.own = request_.in.address() + first * element_bytes_;
    const Share mine = share_of(work.count, element_bytes_, host_.rank(), host_.size());
    const std::size_t begin = mine.first * element_bytes_;
    const std::size_t end = begin + mine.count * element_bytes_;
    mover_.copy(work.input.mine, work.own, begin);
    mover_.copy(work.input.mine + end, work.own + end, work.bytes() - end);
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
    plan_.algorithm->run(mover_, work);
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
  const Plan& plan_;
  std::size_t element_bytes_;
  std::size_t block_bytes_;
  /// How many blocks of a piece are in the staging area.
  std::size_t staged_blocks_ = 1;
};

}  // namespace

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

const AlgorithmInfo& choose_algorithm(const Call& call, Algorithm asked, std::size_t bytes, int ranks,
                                      Location location, Reach memory) {
  const Algorithm forced = asked == Algorithm::automatic ? forced_by_environment(call.operation) : asked;
  const AlgorithmInfo& chosen = forced == Algorithm::automatic
                                    ? select_algorithm(call.operation, bytes, ranks, location, memory)
                                    : *find_algorithm(call.operation, forced);
  // What is too large for a slot, or cannot be reached, takes the algorithm that takes everything.
  const bool taken = takes(chosen, bytes, memory);
  if (log::enabled(LogLevel::info)) {
    const bool usual = &chosen == &default_algorithm(call.operation, bytes, ranks, location, memory);
    const std::string why = !taken ? fmt::format("{} does not take it", name_of(chosen.algorithm))
                            : asked != Algorithm::automatic  ? "the call asks for it"
                            : forced != Algorithm::automatic ? "BATON_COLLECTIVE asks for it"
                            : !usual                         ? "BATON_COLLECTIVE_TABLE says so"
                                                             : "the usual choice";
    log::info("{}, takes the algorithm {}: {} for {} bytes {} on {} ranks", describe(call),
              name_of(taken ? chosen.algorithm : Algorithm::mesh), why, bytes,
              location == Location::in_windows ? "in windows" : "outside of windows", ranks);
  }
  return taken ? chosen : *find_algorithm(call.operation, Algorithm::mesh);
}

void throw_too_many(const HostMover& host, const Call& call) {
  throw Error(Code::unsupported, fmt::format("{} of {} ranks needs windows: the staging area has {} bytes",
                                             describe(call), host.size(), 2 * host.staging_bytes()));
}

void run(const Domain& me, HostMover& host, Mover& mover, const Request& request) {
  if (request.form == Form::apart) return run_apart(me, host, mover, request);
  Plan& plan = host.last_plan(request.call.operation);
  const Shape shape = shape_of(me, request);
  if (plan.algorithm == nullptr || plan.shape != shape) plan = make_plan(shape, request.call, host);
  run_planned(me, host, mover, request, plan);
}

void run_planned(const Domain& me, HostMover& host, Mover& mover, const Request& request, const Plan& plan) {
  const Call& call = request.call;
  const TracedCollective traced(me, call, name_of(plan.algorithm->algorithm), plan.bytes);
  switch (plan.algorithm->needs) {
    case Needs::contributions:
      host.begin(call, details_of(plan), plan.bytes, request.timeout);
      plan.algorithm->run(mover, whole(request));
      break;
    case Needs::memory:
      host.begin(call, hash_with(details_of(plan), static_cast<std::uint64_t>(request.form)),
                 told_bytes(request, host.size()), request.timeout);
      host.expect_traffic(traffic_of(call, host.size()));
      run_read(host, mover, request);
      host.check_kept();
      break;
    default: Run(host, mover, request, plan).run();
  }
  host.end();
}

}  // namespace baton::collectives
