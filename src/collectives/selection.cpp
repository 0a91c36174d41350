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

constexpr std::size_t kKiB = 1024;

/// Whether the system copies between processes about as fast as they do;
/// docs/decisions/ranks.md.
#if defined(__x86_64__)
constexpr bool kReadsAreFast = true;
#else
constexpr bool kReadsAreFast = false;
#endif

/// Operations as the bits of a number.
using Operations = std::uint32_t;
template <class... Some>
constexpr Operations operations(Some... some) noexcept {
  return ((1U << static_cast<unsigned>(some)) | ...);
}
constexpr Operations kAmongAll = operations(Operation::barrier, Operation::allreduce, Operation::reduce_scatter,
                                            Operation::allgather, Operation::all_to_all, Operation::all_to_all_v);
constexpr Operations kRooted =
    operations(Operation::broadcast, Operation::reduce, Operation::gather, Operation::scatter);
constexpr Operations kOfBlocks = operations(Operation::all_to_all, Operation::all_to_all_v);
constexpr Operations kScatter = operations(Operation::scatter);
constexpr Operations kGather = operations(Operation::gather);
constexpr Operations kReduce = operations(Operation::reduce);
constexpr Operations kBroadcast = operations(Operation::broadcast);
constexpr Operations kAll = ~Operations{0};

/// Up to `most_ranks` ranks and this many bytes of data, in windows or elsewhere, this algorithm. The first row that
/// fits counts; every operation has one that fits everything. Rows of `read` and `write` count where the system is fast
/// at it; `baton tune` finds out more about a machine.
struct Rule {
  Operations operations;
  int most_ranks;
  std::size_t in_windows_bytes;
  std::size_t elsewhere_bytes;
  Algorithm algorithm;
};
constexpr Rule kRules[] = {
    // Two ranks have a processor each, as a rule: a second hand-off soon costs less than copying twice.
    {kAmongAll, 2, 2 * kKiB, 32 * kKiB, Algorithm::exchange},
    {kRooted, 2, kKiB, 16 * kKiB, Algorithm::eager},
    {kScatter | kGather, 2, kAnyBytes, 0, Algorithm::fetch},
    {kAll, 2, kAnyBytes, 0, Algorithm::mesh},
    {kAmongAll & ~operations(Operation::allreduce), 2, 0, kAnyBytes, Algorithm::read},
    // With more ranks a meeting takes longer than copying a little.
    {kAmongAll, kAnyRanks, 8 * kKiB, 32 * kKiB, Algorithm::meeting},
    {kGather, kAnyRanks, 4 * kKiB, 16 * kKiB, Algorithm::eager},
    {kRooted & ~kGather, kAnyRanks, 32 * kKiB, 32 * kKiB, Algorithm::eager},
    // Blocks of private data that are worth a call of the system each.
    {kOfBlocks, kAnyRanks, 0, 256 * kKiB, Algorithm::mesh},
    {kOfBlocks | kScatter, kAnyRanks, 0, kAnyBytes, Algorithm::read},
    {kGather, kAnyRanks, 0, kAnyBytes, Algorithm::write},
    // The rest.
    {kScatter | kGather, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::fetch},
    {kBroadcast, kAnyRanks, 0, kAnyBytes, Algorithm::fetch},
    {kReduce, 2, 0, kAnyBytes, Algorithm::fetch},
    {kReduce, kAnyRanks, 0, 512 * kKiB, Algorithm::fetch},
    {kAll, kAnyRanks, kAnyBytes, kAnyBytes, Algorithm::mesh},
};

/// Whether that can be done here; not every operation of a row has its algorithm.
bool can_be_done(const AlgorithmInfo* info, Reach memory) noexcept {
  return info != nullptr && (info->needs != Needs::memory || memory == Reach::all_ranks);
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
    if (rule.operation != operation || rule.location != location || ranks > rule.most_ranks || bytes > rule.most_bytes)
      continue;
    const AlgorithmInfo* info = find_algorithm(operation, rule.algorithm);
    if (can_be_done(info, memory)) return *info;
  }
  return default_algorithm(operation, bytes, ranks, location, memory);
}

const AlgorithmInfo& default_algorithm(Operation operation, std::size_t bytes, int ranks, Location location,
                                       Reach memory) noexcept {
  if (!kReadsAreFast) memory = Reach::this_rank;
  for (const Rule& rule : kRules) {
    const std::size_t most = location == Location::in_windows ? rule.in_windows_bytes : rule.elsewhere_bytes;
    if ((rule.operations & operations(operation)) == 0 || ranks > rule.most_ranks || bytes > most) continue;
    const AlgorithmInfo* info = find_algorithm(operation, rule.algorithm);
    if (can_be_done(info, memory)) return *info;
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
