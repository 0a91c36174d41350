// The product of two matrices by OpenBLAS, on one thread.
#include <cblas.h>

#include <cstdio>
#include <exception>
#include <vector>

#include <support/arguments.hpp>
#include <support/measure.hpp>
#include <support/process.hpp>

int main(int argc, char** argv) {
  try {
    const bench::Arguments arguments = bench::parse_arguments(argc, argv);
    bench::limit_lifetime(arguments.limit_seconds);
    openblas_set_num_threads(1);
    const int side = arguments.side;
    const auto count = static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
    std::vector<float> x(count), w(count), out(count);
    for (std::size_t i = 0; i < count; ++i) {
      x[i] = static_cast<float>(i % 7);
      w[i] = static_cast<float>(i % 5);
    }
    const auto run = [&](std::int64_t n) {
      const auto start = bench::Clock::now();
      for (std::int64_t i = 0; i < n; ++i) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, side, side, side, 1.0F, x.data(), side, w.data(), side,
                    0.0F, out.data(), side);
      }
      return bench::nanoseconds_since(start);
    };
    bench::print(bench::measure(arguments.budget, run, [](double t) { return t; }));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
