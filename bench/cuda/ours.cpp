#include <algorithm>
#include <array>
#include <random>

#include <baton/chip.hpp>
#include <baton/kernel_source.hpp>

#include "cuda/contenders.hpp"

namespace bench::cuda {
namespace {

constexpr std::int64_t kCells = 128;

using baton::Access;
using baton::Graph;
using baton::Tensor;

baton::KernelFile kernels(Checks checks) {
  std::vector<std::string> defines;
  if (checks == Checks::off) defines.emplace_back("PTO_NO_CHECKS");
  return baton::KernelFile::compile({.source = CUDA_BENCH_KERNELS, .platform = "cuda", .defines = std::move(defines)});
}

/// A graph, and what it needs while it runs.
struct Captured {
  explicit Captured(Checks checks = Checks::on, int clusters = 0, baton::ProfileMode profile = baton::ProfileMode::off)
      : Captured(kernels(checks), clusters, profile) {}
  Captured(baton::KernelFile kernels_of, int clusters, baton::ProfileMode profile)
      : file(std::move(kernels_of)), chip({.platform = "cuda", .clusters = clusters, .profile = profile}) {}

  void capture(const std::function<void(Graph&)>& orchestration, baton::Edges edges = baton::Edges::inferred) {
    graph = std::make_unique<baton::CapturedGraph>(chip.capture(orchestration, {.edges = edges}));
  }

  baton::KernelFile file;
  baton::Chip chip;
  std::unique_ptr<baton::CapturedGraph> graph;
};

Run run_of(std::shared_ptr<Captured> captured) {
  return [captured = std::move(captured)] { captured->chip.run(*captured->graph); };
}

/// Numbers of a program: zeros take less power, and some instructions have a way of their own for them.
void fill(baton::Chip& chip, const Tensor& tensor) {
  constexpr std::int64_t kMost = 1 << 22;
  const std::int64_t lines = tensor.extent(0);
  const std::int64_t line = tensor.element_count() / lines;
  const std::int64_t together = std::clamp<std::int64_t>(kMost / line, 1, lines);
  std::mt19937 generator(1);
  std::vector<float> numbers(static_cast<std::size_t>(together * line));
  for (float& number : numbers) number = static_cast<float>(generator() % 65'536) / 8'192 - 4;
  for (std::int64_t i = 0; i < lines; i += together) {
    const std::int64_t end = std::min(i + together, lines);
    chip.copy_in<float>(tensor.slice(i, end), std::span(numbers).first(static_cast<std::size_t>((end - i) * line)));
  }
}

/// What a sum works on.
struct Vectors {
  Vectors(baton::Chip& chip, std::int64_t bytes)
      : count(bytes / static_cast<std::int64_t>(sizeof(float))),
        a(chip.alloc<float>({count}, "a")),
        b(chip.alloc<float>({count}, "b")),
        sum(chip.alloc<float>({count}, "sum")) {
    fill(chip, a);
    fill(chip, b);
  }
  std::int64_t count;
  Tensor a;
  Tensor b;
  Tensor sum;
};

}  // namespace

Run captured(const Shape& shape, baton::ProfileMode profile) {
  auto made = std::make_shared<Captured>(Checks::on, 0, profile);
  const baton::LoadedKernel nothing = made->file.kernel("nothing");
  const Tensor cell = made->chip.alloc<float>({1}, "cell");
  made->capture(
      [&](Graph& graph) {
        std::vector<baton::TaskId> tasks;
        for (const auto& before : shape.predecessors) {
          baton::TaskOptions options;
          for (const std::uint32_t earlier : before) options.after.push_back(tasks[earlier]);
          tasks.push_back(graph.submit(nothing.get(), {{Access::inout, cell}}, options));
        }
      },
      baton::Edges::named);
  return run_of(std::move(made));
}

Run streamed(const std::string& pattern, std::size_t length) {
  auto made = std::make_shared<Captured>();
  const baton::LoadedKernel nothing = made->file.kernel("nothing");
  const Tensor cells = made->chip.alloc<float>({2, kCells}, "cells");
  std::array<std::vector<Tensor>, 2> rows;
  for (std::int64_t row = 0; row < 2; ++row) {
    for (std::int64_t i = 0; i < kCells; ++i) {
      rows.at(static_cast<std::size_t>(row)).push_back(cells.slice_dim(0, row, row + 1).slice_dim(1, i, i + 1));
    }
  }
  const auto submit = [pattern, length, rows, nothing](Graph& graph) {
    if (pattern == "stencil") {
      for (std::size_t step = 0; step < length; ++step) {
        const std::vector<Tensor>& old = rows[step % 2];
        for (std::size_t i = 0; i < std::size_t{kCells}; ++i) {
          const Tensor& left = old[i == 0 ? 0 : i - 1];
          const Tensor& right = old[i + 1 == std::size_t{kCells} ? i : i + 1];
          graph.submit(
              nothing.get(),
              {{Access::in, left}, {Access::in, right}, {Access::in, old[i]}, {Access::out, rows[(step + 1) % 2][i]}});
        }
      }
      return;
    }
    const std::size_t width = pattern == "chain" ? 1 : std::size_t{kCells};
    for (std::size_t i = 0; i < length; ++i) graph.submit(nothing.get(), {{Access::inout, rows[0][i % width]}});
  };
  return [made = std::move(made), submit] { made->chip.run(submit); };
}

Run submit_and_wait(std::size_t tasks) {
  auto made = std::make_shared<Captured>();
  const baton::LoadedKernel nothing = made->file.kernel("nothing");
  const Tensor cell = made->chip.alloc<float>({1}, "cell");
  return [made = std::move(made), nothing, cell, tasks] {
    made->chip.run([&](Graph& graph) {
      for (std::size_t i = 0; i < tasks; ++i) graph.wait(graph.submit(nothing.get(), {{Access::inout, cell}}));
    });
  };
}

Run add_tiles(std::int64_t bytes, Checks checks, int share) {
  constexpr std::int64_t kTile = 4096;
  const int clusters = share == 1 ? 0 : share * baton::Chip({.platform = "cuda"}).clusters();
  auto made = std::make_shared<Captured>(checks, clusters);
  const baton::LoadedKernel add = made->file.kernel("add");
  const Vectors vectors(made->chip, bytes);
  made->capture([&](Graph& graph) {
    for (std::int64_t i = 0; i < vectors.count; i += kTile) {
      const std::int64_t end = std::min(i + kTile, vectors.count);
      const Tensor a = vectors.a.slice(i, end);
      const Tensor b = vectors.b.slice(i, end);
      const Tensor sum = vectors.sum.slice(i, end);
      graph.submit(add.get(), {{Access::in, a}, {Access::in, b}, {Access::out, sum}});
    }
  });
  return run_of(std::move(made));
}

Run add_blocks(std::int64_t bytes, Checks checks) {
  auto made = std::make_shared<Captured>(checks);
  const baton::LoadedKernel add = made->file.kernel("add_stream");
  const Vectors vectors(made->chip, bytes);
  const auto blocks = static_cast<std::uint32_t>(made->chip.cube_cores() + made->chip.vector_cores());
  made->capture([&](Graph& graph) {
    graph.submit(add.get(), {{Access::in, vectors.a}, {Access::in, vectors.b}, {Access::out, vectors.sum}},
                 {.blocks = blocks});
  });
  return run_of(std::move(made));
}

Run rows(const std::string& kernel, std::int64_t bytes, int share) {
  constexpr std::int64_t kColumns = 1024;
  // A core that shares its multiprocessor has less of Vec.
  const int rows_of_tile = share == 1 ? 8 : share == 2 ? 4 : 2;
  const int clusters = share == 1 ? 0 : share * baton::Chip({.platform = "cuda"}).clusters();
  auto made = std::make_shared<Captured>(
      baton::KernelFile::compile(
          {.source = CUDA_ROW_KERNELS, .platform = "cuda", .defines = {"ROWS=" + std::to_string(rows_of_tile)}}),
      clusters, baton::ProfileMode::off);
  const baton::LoadedKernel loaded = made->file.kernel(kernel);
  const std::int64_t count = bytes / static_cast<std::int64_t>(sizeof(float)) / kColumns;
  const Tensor x = made->chip.alloc<float>({count, kColumns}, "x");
  const Tensor y = made->chip.alloc<float>({count, kColumns}, "y");
  fill(made->chip, x);
  const auto blocks = static_cast<std::uint32_t>(made->chip.cube_cores() + made->chip.vector_cores());
  made->capture([&](Graph& graph) {
    graph.submit(loaded.get(), {{Access::in, x}, {Access::out, y}}, {.blocks = blocks});
  });
  return run_of(std::move(made));
}

}  // namespace bench::cuda
