// Baton's share of the comparison, through its public interface alone.
#include <baton/baton.hpp>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include <comm/ping_pong.hpp>
#include <support/arguments.hpp>
#include <support/measure.hpp>
#include <support/process.hpp>
#include <support/put_channel.hpp>

namespace {

/// The mean over the even ranks, which are those that measure.
class Agreement {
 public:
  explicit Agreement(baton::Domain domain) : domain_(domain), values_(domain_.window<double>("bench.values", 1)) {}

  [[nodiscard]] double operator()(double value) {
    values_[0] = value;
    domain_.barrier();
    double sum = 0;
    for (int rank = 0; rank < domain_.size(); rank += 2) sum += values_.peer(rank)[0];
    domain_.barrier();
    return sum / ((domain_.size() + 1) / 2);
  }

 private:
  baton::Domain domain_;
  baton::Window<double> values_;
};

bench::Measured pairs(baton::Domain domain, const bench::Arguments& arguments) {
  Agreement agree(domain);
  bench::PutChannel channel(domain, arguments.bytes);
  return bench::ping_pong(
      channel, domain.rank(), arguments.budget, [&] { domain.barrier(); }, agree);
}

bench::Measured barrier(baton::Domain domain, const bench::Arguments& arguments) {
  Agreement agree(domain);
  const auto run = [&](std::int64_t n) {
    domain.barrier();
    const auto start = bench::Clock::now();
    for (std::int64_t i = 0; i < n; ++i) domain.barrier();
    return bench::nanoseconds_since(start);
  };
  return bench::measure(arguments.budget, run, agree);
}

void measure_in(baton::Domain domain, const bench::Arguments& arguments) {
  bench::Measured measured;
  if (arguments.operation == "pairs")
    measured = pairs(domain, arguments);
  else if (arguments.operation == "barrier")
    measured = barrier(domain, arguments);
  else
    throw std::invalid_argument("no operation '" + arguments.operation + "'");
  if (domain.rank() == 0) bench::print(measured);
}

/// Every rank is a process that `baton run` or the harness started.
void measure_processes(const bench::Arguments& arguments) {
  baton::Domain domain = baton::join();
  if (arguments.operation == "start") {
    domain.barrier();
    if (domain.rank() == 0) bench::print_ready_now();
    return;
  }
  // After joining: a rank that is bound to one processor before counts on that one alone.
  bench::pin_in_turns(domain.rank(), domain.size());
  measure_in(domain, arguments);
}

}  // namespace

int main(int argc, char** argv) try {
  const bench::Arguments arguments = bench::parse_arguments(argc, argv);
  bench::limit_lifetime(arguments.limit_seconds);
  if (arguments.method == "inproc") {
    baton::run_ranks(arguments.ranks, [&](baton::Domain domain) { measure_in(std::move(domain), arguments); });
  } else {
    measure_processes(arguments);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "comm_ours: %s\n", error.what());
  return 1;
}
