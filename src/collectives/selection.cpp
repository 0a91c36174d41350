#include "collectives/selection.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include <baton/error.hpp>
#include <baton/options.hpp>

#include "collectives/scratch.hpp"

namespace baton::collectives {
namespace {

/// Which processors a row is for.
enum class On { all, x86_64 };

/// Up to `most_ranks` ranks and so many bytes, of data in windows or elsewhere, this algorithm. The first row that fits
/// counts; the last one of an operation fits everything. Rows of `read` and `write` count where the system is fast at
/// it.
struct Rule {
  Operation operation;
  int most_ranks;
  std::size_t in_windows_bytes;
  std::size_t elsewhere_bytes;
  Algorithm algorithm;
  On on = On::all;
};

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;

#if defined(__x86_64__)
constexpr On kThisProcessor = On::x86_64;
#else
constexpr On kThisProcessor = On::all;
#endif

/// Whether the system copies between processes about as fast as they do;
/// docs/decisions/0039-ranks-read-each-others-memory.md.
constexpr bool kReadsAreFast = kThisProcessor == On::x86_64;

constexpr Rule kRules[] = {
    {Operation::barrier, 2, kAnyBytes, kAnyBytes, Algorithm::exchange},
    {Operation::barrier, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::meeting},
    {Operation::broadcast, 2, 2 * kKiB, 16 * kKiB, Algorithm::eager},
    {Operation::broadcast, 2, kAnyBytes, 0, Algorithm::mesh},
    {Operation::broadcast, 4, 16 * kKiB, 8 * kKiB, Algorithm::eager},
    {Operation::broadcast, 4, kAnyBytes, 0, Algorithm::mesh, On::x86_64},
    {Operation::broadcast, 4, 32 * kKiB, 0, Algorithm::eager},
    {Operation::broadcast, 4, 64 * kKiB, kAnyBytes, Algorithm::fetch},
    {Operation::broadcast, 4, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::broadcast, kAnyRanks, 16 * kKiB, 32 * kKiB, Algorithm::eager},
    {Operation::broadcast, 8, 64 * kKiB, 0, Algorithm::fetch},
    {Operation::broadcast, 8, kAnyBytes, 0, Algorithm::mesh, On::x86_64},
    {Operation::broadcast, kAnyRanks, 512 * kKiB, kAnyBytes, Algorithm::fetch},
    {Operation::broadcast, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::reduce, 2, kKiB, 32 * kKiB, Algorithm::eager},
    {Operation::reduce, 2, 0, kAnyBytes, Algorithm::fetch},
    {Operation::reduce, 2, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::reduce, 4, 16 * kKiB, 32 * kKiB, Algorithm::eager},
    {Operation::reduce, 4, kAnyBytes, 0, Algorithm::mesh},
    {Operation::reduce, kAnyRanks, 32 * kKiB, 32 * kKiB, Algorithm::eager},
    {Operation::reduce, 4, 0, kAnyBytes, Algorithm::fetch},
    {Operation::reduce, 8, 0, 256 * kKiB, Algorithm::fetch},
    {Operation::reduce, 8, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::reduce, kAnyRanks, 0, 512 * kKiB, Algorithm::fetch},
    {Operation::reduce, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::allreduce, 2, 2 * kKiB, 32 * kKiB, Algorithm::exchange},
    {Operation::allreduce, 2, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::allreduce, 4, 4 * kKiB, 32 * kKiB, Algorithm::meeting},
    {Operation::allreduce, 4, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::allreduce, kAnyRanks, 16 * kKiB, 32 * kKiB, Algorithm::meeting},
    {Operation::allreduce, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::reduce_scatter, 2, 2 * kKiB, 32 * kKiB, Algorithm::exchange},
    {Operation::reduce_scatter, 2, 0, 4 * kMiB, Algorithm::read},
    {Operation::reduce_scatter, 2, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::reduce_scatter, 4, 8 * kKiB, 8 * kKiB, Algorithm::meeting},
    {Operation::reduce_scatter, 4, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::reduce_scatter, kAnyRanks, 16 * kKiB, 4 * kKiB, Algorithm::meeting},
    {Operation::reduce_scatter, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::allgather, 2, 2 * kKiB, 32 * kKiB, Algorithm::exchange},
    {Operation::allgather, 2, 0, kAnyBytes, Algorithm::read},
    {Operation::allgather, 2, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::allgather, 4, 4 * kKiB, 8 * kKiB, Algorithm::meeting},
    {Operation::allgather, 4, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::allgather, kAnyRanks, 8 * kKiB, 2 * kKiB, Algorithm::meeting},
    {Operation::allgather, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::gather, 2, kKiB / 2, 16 * kKiB, Algorithm::eager},
    {Operation::gather, 2, 0, 4 * kMiB, Algorithm::write},
    {Operation::gather, 2, kAnyBytes, kAnyBytes, Algorithm::fetch},
    {Operation::gather, 4, kKiB, 16 * kKiB, Algorithm::eager},
    {Operation::gather, 4, 0, kAnyBytes, Algorithm::write},
    {Operation::gather, 4, 0, 32 * kKiB, Algorithm::eager},
    {Operation::gather, 4, kAnyBytes, kAnyBytes, Algorithm::fetch},
    {Operation::gather, kAnyRanks, 2 * kKiB, 32 * kKiB, Algorithm::eager},
    {Operation::gather, kAnyRanks, 0, kAnyBytes, Algorithm::write},
    {Operation::gather, kAnyRanks, kAnyBytes, 0, Algorithm::fetch},
    {Operation::gather, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::scatter, 2, kKiB, 32 * kKiB, Algorithm::eager},
    {Operation::scatter, 2, 0, kAnyBytes, Algorithm::read},
    {Operation::scatter, 2, kAnyBytes, kAnyBytes, Algorithm::fetch},
    {Operation::scatter, 4, 8 * kKiB, 16 * kKiB, Algorithm::eager},
    {Operation::scatter, 4, 0, 64 * kKiB, Algorithm::fetch},
    {Operation::scatter, 4, 0, kAnyBytes, Algorithm::read},
    {Operation::scatter, 4, kAnyBytes, kAnyBytes, Algorithm::fetch},
    {Operation::scatter, 8, 16 * kKiB, 32 * kKiB, Algorithm::eager},
    {Operation::scatter, kAnyRanks, 32 * kKiB, 32 * kKiB, Algorithm::eager},
    {Operation::scatter, 8, 0, 64 * kKiB, Algorithm::fetch},
    {Operation::scatter, 8, 0, kAnyBytes, Algorithm::read},
    {Operation::scatter, kAnyRanks, 0, 512 * kKiB, Algorithm::fetch},
    {Operation::scatter, kAnyRanks, 0, kAnyBytes, Algorithm::read},
    {Operation::scatter, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::fetch},
    {Operation::all_to_all, 2, 2 * kKiB, 16 * kKiB, Algorithm::exchange},
    {Operation::all_to_all, 2, 0, kAnyBytes, Algorithm::read},
    {Operation::all_to_all, 2, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::all_to_all, 4, 8 * kKiB, 8 * kKiB, Algorithm::meeting},
    {Operation::all_to_all, 4, 0, 64 * kKiB, Algorithm::mesh},
    {Operation::all_to_all, 4, 0, 4 * kMiB, Algorithm::read},
    {Operation::all_to_all, 4, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::all_to_all, kAnyRanks, 16 * kKiB, 4 * kKiB, Algorithm::meeting},
    {Operation::all_to_all, 8, 0, 128 * kKiB, Algorithm::mesh},
    {Operation::all_to_all, 8, 0, 2 * kMiB, Algorithm::read},
    {Operation::all_to_all, 8, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::all_to_all, 16, 0, 256 * kKiB, Algorithm::mesh},
    {Operation::all_to_all, 16, 0, kAnyBytes, Algorithm::read},
    {Operation::all_to_all, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::mesh},
    {Operation::all_to_all_v, 4, 0, kAnyBytes, Algorithm::read},
    {Operation::all_to_all_v, 16, 0, 128 * kKiB, Algorithm::mesh},
    {Operation::all_to_all_v, 8, 0, 4 * kMiB, Algorithm::read},
    {Operation::all_to_all_v, 8, 0, kAnyBytes, Algorithm::mesh},
    {Operation::all_to_all_v, 16, 0, kAnyBytes, Algorithm::read},
    {Operation::all_to_all_v, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::mesh},
};

bool needs_memory(Operation operation, Algorithm algorithm) noexcept {
  return find_algorithm(operation, algorithm)->needs == Needs::memory;
}

template <class Value, int count>
Value value_named(std::string_view name, std::string_view text) {
  for (int i = 0; i < count; ++i) {
    if (name_of(static_cast<Value>(i)) == name) return static_cast<Value>(i);
  }
  throw Error(Code::bad_option, fmt::format("BATON_COLLECTIVE=\"{}\": there is no \"{}\"; accepted: pairs such as "
                                            "allreduce:ring, separated by commas",
                                            text, name));
}

std::array<Algorithm, kOperations> parse_forced(std::string_view text) {
  std::array<Algorithm, kOperations> forced{};
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view pair = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const std::size_t colon = std::min(pair.find(':'), pair.size());
    const auto operation = value_named<Operation, kOperations>(pair.substr(0, colon), text);
    const auto algorithm = value_named<Algorithm, kAlgorithms>(pair.substr(std::min(pair.size(), colon + 1)), text);
    if (algorithm != Algorithm::automatic && find_algorithm(operation, algorithm) == nullptr) {
      throw Error(Code::bad_option, fmt::format("BATON_COLLECTIVE=\"{}\": {} has no algorithm {}", text,
                                                name_of(operation), name_of(algorithm)));
    }
    forced[static_cast<std::size_t>(operation)] = algorithm;
  }
  return forced;
}

}  // namespace

const AlgorithmInfo& select_algorithm(Operation operation, std::size_t bytes, int ranks, Location location,
                                      Reach memory) {
  static const std::vector<TunedRule> tuned =
      options().collective_table ? read_table_file(*options().collective_table) : std::vector<TunedRule>();
  for (const TunedRule& rule : tuned) {
    if (rule.operation == operation && rule.location == location && ranks <= rule.most_ranks &&
        bytes <= rule.most_bytes && (!needs_memory(operation, rule.algorithm) || memory == Reach::all_ranks))
      return *find_algorithm(operation, rule.algorithm);
  }
  return default_algorithm(operation, bytes, ranks, location, memory);
}

const AlgorithmInfo& default_algorithm(Operation operation, std::size_t bytes, int ranks, Location location,
                                       Reach memory) noexcept {
  const bool may_reach = memory == Reach::all_ranks && kReadsAreFast;
  for (const Rule& rule : kRules) {
    const std::size_t most = location == Location::in_windows ? rule.in_windows_bytes : rule.elsewhere_bytes;
    if (rule.operation == operation && ranks <= rule.most_ranks && bytes <= most &&
        (rule.on == On::all || rule.on == kThisProcessor) && (may_reach || !needs_memory(operation, rule.algorithm)))
      return *find_algorithm(operation, rule.algorithm);
  }
  return all_algorithms()[0];
}

bool takes(const AlgorithmInfo& algorithm, std::size_t bytes, Reach memory) noexcept {
  return (algorithm.needs != Needs::contributions || bytes <= kSlotBytes) &&
         (algorithm.needs != Needs::memory || memory == Reach::all_ranks);
}

Algorithm forced_by(std::string_view text, Operation operation) {
  return parse_forced(text)[static_cast<std::size_t>(operation)];
}

Algorithm forced_by_environment(Operation operation) {
  static const std::array<Algorithm, kOperations> forced = parse_forced(options().collective);
  return forced[static_cast<std::size_t>(operation)];
}

}  // namespace baton::collectives
