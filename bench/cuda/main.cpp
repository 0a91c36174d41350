// Graphs on a GPU, and the same as CUDA Graphs and in streams.
#include "cuda/contenders.hpp"
#include "cuda/parts.hpp"
#include "cuda/talk.hpp"
#include "support/contend.hpp"
#include "support/measure.hpp"

namespace {

using bench::Arguments;
using bench::cuda::Checks;
using bench::cuda::Run;

void print_time_of(const Run& run, const Arguments& arguments, std::size_t operations) {
  const auto time_of = [&](std::int64_t rounds) {
    const auto start = bench::Clock::now();
    for (std::int64_t i = 0; i < rounds; ++i) run();
    return bench::nanoseconds_since(start);
  };
  bench::Measured measured = bench::measure(arguments.budget, time_of, [](double elapsed) { return elapsed; });
  measured.median_ns /= static_cast<double>(operations);
  bench::print(measured);
}

[[noreturn]] void refuse(const std::string& method) { throw std::invalid_argument("unknown method " + method); }

void measure_graph(const Arguments& arguments) {
  const bench::cuda::Shape shape = bench::cuda::shape_named(arguments.pattern, arguments.tasks);
  const auto contender = [&]() -> Run {
    if (arguments.method == "ours") return bench::cuda::captured(shape, baton::ProfileMode::off);
    if (arguments.method == "profiled") return bench::cuda::captured(shape, baton::ProfileMode::summary);
    if (arguments.method == "streamed") return bench::cuda::streamed(arguments.pattern, arguments.tasks);
    if (arguments.method == "submit_and_wait") return bench::cuda::submit_and_wait(arguments.tasks);
    if (arguments.method == "graph") return bench::cuda::cuda_graph(shape);
    if (arguments.method == "streams") return bench::cuda::streams(shape);
    refuse(arguments.method);
  };
  print_time_of(contender(), arguments, shape.operations);
}

void measure_add(const Arguments& arguments) {
  const auto bytes = static_cast<std::int64_t>(arguments.bytes);
  const auto contender = [&]() -> Run {
    if (arguments.method == "tiles") return bench::cuda::add_tiles(bytes, Checks::on, arguments.share);
    if (arguments.method == "tiles_unchecked") return bench::cuda::add_tiles(bytes, Checks::off, arguments.share);
    if (arguments.method == "blocks") return bench::cuda::add_blocks(bytes, Checks::on);
    if (arguments.method == "blocks_unchecked") return bench::cuda::add_blocks(bytes, Checks::off);
    if (arguments.method == "kernel") return bench::cuda::cuda_add(bytes);
    refuse(arguments.method);
  };
  print_time_of(contender(), arguments, 1);
}

void measure_matmul(const Arguments& arguments) {
  const auto contender = [&]() -> Run {
    if (arguments.method == "ours") return bench::cuda::matmul(arguments.side, Checks::on);
    if (arguments.method == "unchecked") return bench::cuda::matmul(arguments.side, Checks::off);
    if (arguments.method == "cublas") return bench::cuda::cublas_matmul(arguments.side);
    refuse(arguments.method);
  };
  print_time_of(contender(), arguments, 1);
}

void measure_rows(const Arguments& arguments) {
  const auto bytes = static_cast<std::int64_t>(arguments.bytes);
  print_time_of(bench::cuda::rows(arguments.method, bytes, arguments.share), arguments, 1);
}

void measure_decoder(const Arguments& arguments) {
  print_time_of(bench::cuda::decoder_layers(arguments.method, arguments.tasks), arguments, arguments.tasks);
}

void measure_copy(const Arguments& arguments) {
  print_time_of(bench::cuda::cuda_copy(static_cast<std::int64_t>(arguments.bytes)), arguments, 1);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::contend(argc, argv,
                        {{"graph", measure_graph},
                         {"add", measure_add},
                         {"copy", measure_copy},
                         {"matmul", measure_matmul},
                         {"rows", measure_rows},
                         {"decoder", measure_decoder},
                         {"parts", bench::cuda::measure_parts},
                         {"put", bench::cuda::measure_put},
                         {"experts", bench::cuda::measure_experts}});
}
