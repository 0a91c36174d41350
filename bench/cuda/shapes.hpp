// Graphs of tasks that do nothing: the same for Baton, CUDA Graphs and streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench::cuda {

struct Shape {
  /// Of each task, those that it waits for; they come before it.
  std::vector<std::vector<std::uint32_t>> predecessors{};
  /// What one operation of a measurement is: a task, a step, a fan, or the whole graph.
  std::size_t operations = 1;
};

/// `steps` times `width` cells, of which each waits for its neighbours in the step before.
inline Shape stencil(std::uint32_t width, std::size_t steps) {
  Shape shape{.operations = steps};
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::uint32_t i = 0; i < width; ++i) {
      std::vector<std::uint32_t> before;
      if (step > 0) {
        const auto last = static_cast<std::uint32_t>((step - 1) * width);
        for (std::uint32_t cell = i == 0 ? 0 : i - 1; cell < width && cell <= i + 1; ++cell) {
          before.push_back(last + cell);
        }
      }
      shape.predecessors.push_back(std::move(before));
    }
  }
  return shape;
}

/// One task, `width` that wait for it, one that waits for all of them, which is the first of the next fan.
inline Shape fan(std::uint32_t width, std::size_t fans) {
  Shape shape{.predecessors = {{}}, .operations = fans};
  for (std::size_t i = 0; i < fans; ++i) {
    const auto root = static_cast<std::uint32_t>(shape.predecessors.size() - 1);
    std::vector<std::uint32_t> all;
    for (std::uint32_t k = 0; k < width; ++k) {
      all.push_back(static_cast<std::uint32_t>(shape.predecessors.size()));
      shape.predecessors.push_back({root});
    }
    shape.predecessors.push_back(std::move(all));
  }
  return shape;
}

inline Shape chain(std::size_t tasks) {
  Shape shape{.operations = tasks};
  for (std::uint32_t i = 0; i < tasks; ++i) {
    shape.predecessors.push_back(i == 0 ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{i - 1});
  }
  return shape;
}

/// `width` chains, whose tasks take turns.
inline Shape cells(std::uint32_t width, std::size_t tasks) {
  Shape shape{.operations = tasks};
  for (std::uint32_t i = 0; i < tasks; ++i) {
    shape.predecessors.push_back(i < width ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{i - width});
  }
  return shape;
}

inline Shape shape_named(const std::string& name, std::size_t length) {
  constexpr std::uint32_t kCells = 128;
  constexpr std::uint32_t kFan = 64;
  if (name == "stencil") return stencil(kCells, length);
  if (name == "fan") return fan(kFan, length);
  if (name == "chain") return chain(length);
  if (name == "cells") return cells(kCells, length);
  if (name == "independent") return {std::vector<std::vector<std::uint32_t>>(length), length};
  throw std::invalid_argument("unknown pattern " + name);
}

}  // namespace bench::cuda
