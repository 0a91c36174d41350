#include "collectives/selection.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include <baton/error.hpp>
#include <baton/options.hpp>

#include "collectives/algorithms/algorithms.hpp"
#include "collectives/scratch.hpp"

namespace baton::collectives {
namespace {

constexpr AlgorithmInfo kAlgorithms[] = {
    {Operation::barrier, Algorithm::exchange, Reach::contributions, barrier_exchange},
    {Operation::barrier, Algorithm::meeting, Reach::contributions, barrier_meeting},
    {Operation::broadcast, Algorithm::eager, Reach::contributions, broadcast_eager},
    {Operation::broadcast, Algorithm::fetch, Reach::data, broadcast_fetch},
    {Operation::broadcast, Algorithm::mesh, Reach::data, broadcast_mesh},
    {Operation::broadcast, Algorithm::tree, Reach::outputs, broadcast_tree},
    {Operation::reduce, Algorithm::eager, Reach::contributions, reduce_eager},
    {Operation::reduce, Algorithm::mesh, Reach::data, reduce_mesh},
    {Operation::reduce, Algorithm::tree, Reach::outputs, reduce_tree},
    {Operation::allreduce, Algorithm::exchange, Reach::contributions, allreduce_exchange},
    {Operation::allreduce, Algorithm::meeting, Reach::contributions, allreduce_meeting},
    {Operation::allreduce, Algorithm::mesh, Reach::data, allreduce_mesh},
    {Operation::allreduce, Algorithm::ring, Reach::outputs, allreduce_ring},
    {Operation::allreduce, Algorithm::bidirectional_ring, Reach::outputs, allreduce_bidirectional_ring},
    {Operation::allreduce, Algorithm::interleaved_ring, Reach::outputs, allreduce_interleaved_ring},
    {Operation::allreduce, Algorithm::recursive_halving, Reach::outputs, allreduce_recursive_halving},
    {Operation::allreduce, Algorithm::tree, Reach::outputs, allreduce_tree},
    {Operation::reduce_scatter, Algorithm::exchange, Reach::contributions, reduce_scatter_exchange},
    {Operation::reduce_scatter, Algorithm::meeting, Reach::contributions, reduce_scatter_meeting},
    {Operation::reduce_scatter, Algorithm::mesh, Reach::data, reduce_scatter_mesh},
    {Operation::allgather, Algorithm::exchange, Reach::contributions, allgather_exchange},
    {Operation::allgather, Algorithm::meeting, Reach::contributions, allgather_meeting},
    {Operation::allgather, Algorithm::mesh, Reach::data, allgather_mesh},
    {Operation::allgather, Algorithm::ring, Reach::outputs, allgather_ring},
    {Operation::gather, Algorithm::eager, Reach::contributions, gather_eager},
    {Operation::gather, Algorithm::mesh, Reach::data, gather_mesh},
    {Operation::scatter, Algorithm::eager, Reach::contributions, scatter_eager},
    {Operation::scatter, Algorithm::mesh, Reach::data, scatter_mesh},
    {Operation::all_to_all, Algorithm::exchange, Reach::contributions, all_to_all_exchange},
    {Operation::all_to_all, Algorithm::meeting, Reach::contributions, all_to_all_meeting},
    {Operation::all_to_all, Algorithm::mesh, Reach::data, all_to_all_mesh},
};

/// Up to `most_ranks` ranks and `most_bytes` bytes this algorithm. The first row that fits counts; the last one of an
/// operation fits everything.
struct Rule {
  Operation operation;
  int most_ranks;
  std::size_t in_windows_bytes;
  std::size_t elsewhere_bytes;
  Algorithm algorithm;
};

constexpr int kAnyRanks = 1 << 30;
constexpr std::size_t kAnyBytes = SIZE_MAX;
constexpr std::size_t kKiB = 1024;

constexpr Rule kRules[] = {
    {Operation::barrier, 2, kAnyBytes, kAnyBytes, Algorithm::exchange},
    {Operation::barrier, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::meeting},
    {Operation::broadcast, kAnyRanks, 8 * kKiB, 8 * kKiB, Algorithm::eager},
    {Operation::broadcast, kAnyRanks, 512 * kKiB, 8 * kKiB, Algorithm::fetch},
    {Operation::broadcast, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::reduce, kAnyRanks, 8 * kKiB, 8 * kKiB, Algorithm::eager},
    {Operation::reduce, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::allreduce, 2, 8 * kKiB, 8 * kKiB, Algorithm::exchange},
    {Operation::allreduce, kAnyRanks, 8 * kKiB, 8 * kKiB, Algorithm::meeting},
    {Operation::allreduce, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::reduce_scatter, 2, 8 * kKiB, 8 * kKiB, Algorithm::exchange},
    {Operation::reduce_scatter, kAnyRanks, 8 * kKiB, 8 * kKiB, Algorithm::meeting},
    {Operation::reduce_scatter, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::allgather, 2, 8 * kKiB, 8 * kKiB, Algorithm::exchange},
    {Operation::allgather, kAnyRanks, 8 * kKiB, 8 * kKiB, Algorithm::meeting},
    {Operation::allgather, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::gather, kAnyRanks, 8 * kKiB, 8 * kKiB, Algorithm::eager},
    {Operation::gather, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::scatter, kAnyRanks, 8 * kKiB, 8 * kKiB, Algorithm::eager},
    {Operation::scatter, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::all_to_all, 2, 8 * kKiB, 8 * kKiB, Algorithm::exchange},
    {Operation::all_to_all, kAnyRanks, 8 * kKiB, 8 * kKiB, Algorithm::meeting},
    {Operation::all_to_all, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::mesh},
};

template <class Value, int count>
Value value_named(std::string_view name, std::string_view text) {
  for (int i = 0; i < count; ++i) {
    if (name_of(static_cast<Value>(i)) == name) return static_cast<Value>(i);
  }
  throw Error(Code::bad_option, fmt::format("BATON_COLLECTIVE=\"{}\": there is no \"{}\"; accepted: pairs such as "
                                            "allreduce:ring, separated by commas",
                                            text, name));
}

constexpr int kAlgorithmCount = 11;

std::array<Algorithm, kOperations> parse_forced(std::string_view text) {
  std::array<Algorithm, kOperations> forced{};
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view pair = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const std::size_t colon = std::min(pair.find(':'), pair.size());
    const auto operation = value_named<Operation, kOperations>(pair.substr(0, colon), text);
    const auto algorithm = value_named<Algorithm, kAlgorithmCount>(pair.substr(std::min(pair.size(), colon + 1)), text);
    if (algorithm != Algorithm::automatic && find_algorithm(operation, algorithm) == nullptr) {
      throw Error(Code::bad_option, fmt::format("BATON_COLLECTIVE=\"{}\": {} has no algorithm {}", text,
                                                name_of(operation), name_of(algorithm)));
    }
    forced[static_cast<std::size_t>(operation)] = algorithm;
  }
  return forced;
}

}  // namespace

std::span<const AlgorithmInfo> all_algorithms() noexcept { return kAlgorithms; }

const AlgorithmInfo* find_algorithm(Operation operation, Algorithm algorithm) noexcept {
  for (const AlgorithmInfo& info : kAlgorithms) {
    if (info.operation == operation && info.algorithm == algorithm) return &info;
  }
  return nullptr;
}

const AlgorithmInfo& select_algorithm(Operation operation, std::size_t bytes, int ranks, Location location) noexcept {
  for (const Rule& rule : kRules) {
    const std::size_t most = location == Location::in_windows ? rule.in_windows_bytes : rule.elsewhere_bytes;
    if (rule.operation == operation && ranks <= rule.most_ranks && bytes <= most)
      return *find_algorithm(operation, rule.algorithm);
  }
  return kAlgorithms[0];
}

Algorithm forced_by(std::string_view text, Operation operation) {
  return parse_forced(text)[static_cast<std::size_t>(operation)];
}

Algorithm forced_by_environment(Operation operation) {
  static const std::array<Algorithm, kOperations> forced = parse_forced(options().collective);
  return forced[static_cast<std::size_t>(operation)];
}

}  // namespace baton::collectives
