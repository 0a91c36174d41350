// Baton's share of the comparison, through its public interface alone.
#include <baton/baton.hpp>
#include <baton/collectives.hpp>

#include <cstdio>
#include <exception>
#include <span>
#include <vector>

#include <collectives/collective.hpp>
#include <support/arguments.hpp>
#include <support/measure.hpp>
#include <support/process.hpp>

namespace {

/// Where the data is: in windows of the domain, or in memory of each rank alone.
enum class Memory { windows, own };

class Collectives {
 public:
  Collectives(baton::Domain domain, const bench::Sizes& sizes, Memory memory, bool in_place)
      : domain_(std::move(domain)), sizes_(sizes), memory_(memory), in_place_(in_place) {
    if (memory == Memory::windows) {
      in_window_ = domain_.window<float>("bench.in", sizes.in);
      if (!in_place) out_window_ = domain_.window<float>("bench.out", sizes.out);
    } else {
      in_own_.resize(sizes.in);
      if (!in_place) out_own_.resize(sizes.out);
    }
    counts_.assign(static_cast<std::size_t>(domain_.size()), sizes.block);
  }

  [[nodiscard]] std::span<float> in() {
    return memory_ == Memory::windows ? std::span(in_window_.begin(), in_window_.end()) : std::span(in_own_);
  }
  [[nodiscard]] std::span<float> out() {
    if (in_place_) return in();
    return memory_ == Memory::windows ? std::span(out_window_.begin(), out_window_.end()) : std::span(out_own_);
  }

  void run(const std::string& operation, int root) {
    const baton::Data in = memory_ == Memory::windows ? baton::Data(in_window_) : baton::Data(in_own_);
    const baton::Data out = in_place_                    ? in
                            : memory_ == Memory::windows ? baton::Data(out_window_)
                                                         : baton::Data(out_own_);
    switch (operation[0]) {
      case 'b':
        if (operation == "barrier") return baton::barrier(domain_);
        return baton::broadcast(domain_, in, root);
      case 'r':
        if (operation == "reduce") return baton::reduce(domain_, in, out, root);
        return baton::reduce_scatter(domain_, in, out);
      case 'g': return baton::gather(domain_, in, out, root);
      case 's': return baton::scatter(domain_, in, out, root);
      default: break;
    }
    if (operation == "allreduce") return baton::allreduce(domain_, in, out);
    if (operation == "allgather") return baton::allgather(domain_, in, out);
    if (operation == "all_to_all") return baton::all_to_all(domain_, in, out);
    baton::all_to_all_v(domain_, in, counts_, out, counts_);
  }

 private:
  baton::Domain domain_;
  bench::Sizes sizes_;
  Memory memory_;
  bool in_place_;
  baton::Window<float> in_window_;
  baton::Window<float> out_window_;
  std::vector<float> in_own_;
  std::vector<float> out_own_;
  std::vector<std::size_t> counts_;
};

void measure_in(baton::Domain domain, const bench::Arguments& arguments, Memory memory) {
  const bench::Sizes sizes = bench::sizes_of(arguments.operation, arguments.bytes, domain.size());
  const bool in_place = arguments.operation == "allreduce" || arguments.operation == "broadcast";
  Collectives library(domain, sizes, memory, in_place);
  const auto largest = [&](double value) {
    baton::allreduce(domain, std::span(&value, 1), baton::ReduceOp::max);
    return value;
  };
  const bench::Measured measured = bench::measure_collective(library, arguments.operation, sizes, domain.rank(),
                                                             domain.size(), arguments.budget, largest);
  if (domain.rank() == 0) bench::print(measured);
}

}  // namespace

int main(int argc, char** argv) try {
  const bench::Arguments arguments = bench::parse_arguments(argc, argv);
  bench::limit_lifetime(arguments.limit_seconds);
  if (arguments.method == "inproc") {
    baton::run_ranks(arguments.ranks,
                     [&](baton::Domain domain) { measure_in(std::move(domain), arguments, Memory::windows); });
    return 0;
  }
  baton::Domain domain = baton::join();
  // After joining, where a rank counts the processors that it may use.
  bench::pin_in_turns(domain.rank(), domain.size());
  measure_in(domain, arguments, arguments.method == "private" ? Memory::own : Memory::windows);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "collectives_ours: %s\n", error.what());
  return 1;
}
