// Baton's share of the comparison over hosts, through its public interface alone.
#include <baton/baton.hpp>
#include <baton/collectives.hpp>

#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>

#include <comm/ping_pong.hpp>
#include <hosts/ring.hpp>
#include <support/arguments.hpp>
#include <support/measure.hpp>
#include <support/process.hpp>
#include <support/put_channel.hpp>

namespace {

/// The same number on both ranks: that of rank 0.
class Agreement {
 public:
  explicit Agreement(baton::Domain& domain)
      : rank_(domain.rank()), value_(domain.window<double>("bench.value", 1)), told_(domain.signals("bench.told", 1)) {}

  [[nodiscard]] double operator()(double value) {
    ++rounds_;
    if (rank_ == 0) {
      value_.put_signal(1, 0, std::span(&value, 1), told_, 0);
      return value;
    }
    told_.wait(0, baton::WaitCmp::ge, rounds_);
    return value_[0];
  }

 private:
  int rank_;
  baton::Window<double> value_;
  baton::Signals told_;
  std::int32_t rounds_ = 0;
};

/// One way of a message and its answer.
bench::Measured there_and_back(baton::Domain& domain, const bench::Arguments& arguments) {
  Agreement agree(domain);
  bench::PutChannel channel(domain, arguments.bytes);
  return bench::ping_pong(
      channel, domain.rank(), arguments.budget, [&] { domain.barrier(); }, agree);
}

/// One message of many that follow each other, until the last has come.
bench::Measured one_way(baton::Domain& domain, const bench::Arguments& arguments) {
  Agreement agree(domain);
  bench::PutChannel channel(domain, arguments.bytes);
  auto done = domain.signals("bench.done", 1);
  std::int32_t batches = 0;
  const auto run = [&](std::int64_t n) {
    domain.barrier();
    const auto start = bench::Clock::now();
    ++batches;
    if (domain.rank() == 0) {
      for (std::int64_t i = 0; i < n; ++i) channel.send();
      done.wait(0, baton::WaitCmp::ge, batches);
    } else {
      channel.receive(static_cast<std::int32_t>(n));
      done.notify(0, 0);
    }
    return bench::nanoseconds_since(start);
  };
  return bench::measure(arguments.budget, run, agree);
}

/// An allreduce that knows no hosts.
bench::Measured in_a_ring(baton::Domain& domain, const bench::Arguments& arguments) {
  bench::pin_in_turns(domain.rank(), domain.size());
  bench::Ring ring(domain, arguments.bytes);
  ring.check();
  const auto largest = [&](double value) {
    baton::allreduce(domain, std::span(&value, 1), baton::ReduceOp::max);
    return value;
  };
  const auto run = [&](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) ring.allreduce();
  };
  return bench::measure_together(arguments.budget, run, largest);
}

void measure(const bench::Arguments& arguments) {
  baton::Domain domain = baton::join();
  if (arguments.operation == "start") {
    domain.barrier();
    if (domain.rank() == 0) bench::print_ready_now();
    return;
  }
  if (arguments.operation == "ring") {
    const bench::Measured measured = in_a_ring(domain, arguments);
    if (domain.rank() == 0) bench::print(measured);
    return;
  }
  if (domain.size() != 2) throw std::invalid_argument("two ranks are needed");
  bench::pin_in_turns(domain.rank(), domain.size());
  bench::Measured measured;
  if (arguments.operation == "latency")
    measured = there_and_back(domain, arguments);
  else if (arguments.operation == "bandwidth")
    measured = one_way(domain, arguments);
  else
    throw std::invalid_argument("no operation '" + arguments.operation + "'");
  if (domain.rank() == 0) bench::print(measured);
}

}  // namespace

int main(int argc, char** argv) try {
  const bench::Arguments arguments = bench::parse_arguments(argc, argv);
  bench::limit_lifetime(arguments.limit_seconds);
  measure(arguments);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "hosts_ours: %s\n", error.what());
  return 1;
}
