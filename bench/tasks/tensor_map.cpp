// What finding the edges of a task costs: nanoseconds per recorded access.
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "chip/graph/tensor_map.hpp"
#include "support/measure.hpp"

namespace {

using baton::Buffer;
using baton::DType;
using baton::Tensor;
using baton::graph::TaskId;
using baton::graph::TensorMap;
using baton::graph::Use;
using baton::graph::view_of;

constexpr std::uint64_t kBase = std::uint64_t{1} << 32;

/// Tasks complete in order, `window` tasks after their submission.
class Stream {
 public:
  explicit Stream(TaskId window) : window_(window) {}

  void begin_task() {
    ++task_;
    if (task_ > window_) map_.forget_before(task_ - window_);
  }
  void access(const Tensor& tensor, Use access) {
    map_.record(
        view_of(tensor), access, task_, [this](TaskId task) { return task + window_ >= task_; },
        [this](TaskId task) { found_ += task; });
    ++accesses_;
  }
  [[nodiscard]] std::int64_t accesses() const { return accesses_; }
  [[nodiscard]] const TensorMap& map() const { return map_; }
  [[nodiscard]] TaskId found() const { return found_; }

 private:
  TensorMap map_;
  TaskId window_;
  TaskId task_ = 0;
  TaskId found_ = 0;
  std::int64_t accesses_ = 0;
};

std::string wanted;  // part of the name of the cases to run

/// `step(stream, i)` makes task i. Returns the nanoseconds of one access.
template <class Step>
double report(const std::string& name, TaskId window, Step&& step) {
  if (name.find(wanted) == std::string::npos) return 0;
  Stream stream(window);
  std::int64_t next = 0;
  const auto run = [&](std::int64_t count) {
    const auto start = bench::Clock::now();
    const std::int64_t before = stream.accesses();
    for (std::int64_t i = 0; i < count; ++i) step(stream, next++);
    return bench::nanoseconds_since(start) * static_cast<double>(count) /
           static_cast<double>(stream.accesses() - before);
  };
  const bench::Measured measured =
      bench::measure(std::chrono::milliseconds(400), run, [](double value) { return value; });
  std::printf("%-58s %8.1f ns   (%zu regions, found %llx)\n", name.c_str(), measured.median_ns,
              stream.map().region_count(), static_cast<unsigned long long>(stream.found()));
  return measured.median_ns;
}

Tensor line_of(std::int64_t slices, std::int64_t length) {
  const std::int64_t count = slices * length;
  return {Buffer{.address = kBase, .bytes = static_cast<std::uint64_t>(count) * 4}, DType::float32, {count}};
}

std::vector<Tensor> slices_of_a_line(std::int64_t slices) {
  const Tensor line = line_of(slices, 256);
  std::vector<Tensor> result;
  for (std::int64_t i = 0; i < slices; ++i) result.push_back(line.slice(i * 256, (i + 1) * 256));
  return result;
}

std::vector<Tensor> tiles_of_a_matrix(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kSide = 24;
  const Buffer buffer{.address = kBase, .bytes = static_cast<std::uint64_t>(rows * columns * kSide * kSide) * 4};
  const Tensor matrix(buffer, DType::float32, {rows * kSide, columns * kSide});
  std::vector<Tensor> result;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      result.push_back(matrix.slice(i * kSide, (i + 1) * kSide).slice_dim(1, j * kSide, (j + 1) * kSide));
    }
  }
  return result;
}

double known_views(const std::string& name, const std::vector<Tensor>& views, Use access) {
  const auto count = static_cast<std::int64_t>(views.size());
  return report(name, 16384, [&](Stream& stream, std::int64_t i) {
    stream.begin_task();
    stream.access(views[static_cast<std::size_t>(i % count)], access);
  });
}

/// Each pass over the views happens somewhere else, so that every view is new.
double new_views(const std::string& name, const std::vector<Tensor>& views) {
  const auto count = static_cast<std::int64_t>(views.size());
  return report(name, 16384, [&](Stream& stream, std::int64_t i) {
    stream.begin_task();
    const Tensor& view = views[static_cast<std::size_t>(i % count)];
    Buffer elsewhere = view.buffer();
    elsewhere.address += static_cast<std::uint64_t>(i / count) * (elsewhere.bytes + 4096);
    stream.access(Tensor(elsewhere, view.dtype(), view.shape(), view.strides(), view.offset()), Use::write);
  });
}

void random_graph() {
  std::mt19937_64 random(1);
  std::vector<Tensor> tensors;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    tensors.emplace_back(Buffer{.address = kBase + (i << 20), .bytes = 65536}, DType::float32,
                         std::initializer_list<std::int64_t>{128, 128});
  }
  std::vector<std::vector<std::size_t>> tasks(4096);
  for (auto& task : tasks) {
    task.resize(2 + random() % 5);
    for (std::size_t& tensor : task) tensor = random() % tensors.size();
  }
  report("random graph: 1 to 5 inputs, 1 output, 1000 tensors", 256, [&](Stream& stream, std::int64_t i) {
    const auto& task = tasks[static_cast<std::size_t>(i) % tasks.size()];
    stream.begin_task();
    for (std::size_t k = 1; k < task.size(); ++k) stream.access(tensors[task[k]], Use::read);
    stream.access(tensors[task[0]], Use::write);
  });
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count > 1) wanted = arguments[1];
  const Tensor one = line_of(1, 1024);
  report("chain on one tensor: read and write", 1000, [&](Stream& stream, std::int64_t) {
    stream.begin_task();
    stream.access(one, Use::read_write);
  });
  report("many readers of one tensor, a write each 100,000", 1000, [&](Stream& stream, std::int64_t i) {
    stream.begin_task();
    stream.access(one, i % 100000 == 0 ? Use::write : Use::read);
  });
  report("independent tensors, 64 that come again", 1000, [&](Stream& stream, std::int64_t i) {
    stream.begin_task();
    const Buffer buffer{.address = kBase + (static_cast<std::uint64_t>(i) % 64) * 65536, .bytes = 4096};
    stream.access(Tensor(buffer, DType::float32, {32, 32}), Use::write);
  });
  report("independent tensors, each new", 1000, [&](Stream& stream, std::int64_t i) {
    stream.begin_task();
    const Buffer buffer{.address = kBase + static_cast<std::uint64_t>(i) * 8192, .bytes = 4096};
    stream.access(Tensor(buffer, DType::float32, {32, 32}), Use::write);
  });
  const double few_slices = known_views("1-D slices of one buffer, 12 known", slices_of_a_line(12), Use::write);
  const double slices = known_views("1-D slices of one buffer, 12,000 known", slices_of_a_line(12000), Use::write);
  const double few_tiles = known_views("2-D tiles of one matrix, 12 known", tiles_of_a_matrix(3, 4), Use::write);
  const double tiles = known_views("2-D tiles of one matrix, 110 x 110 known", tiles_of_a_matrix(110, 110), Use::write);
  const double few_new_slices = new_views("1-D slices of one buffer, 12 new", slices_of_a_line(12));
  const double new_slices = new_views("1-D slices of one buffer, 12,000 new", slices_of_a_line(12000));
  const double few_new_tiles = new_views("2-D tiles of one matrix, 12 new", tiles_of_a_matrix(3, 4));
  const double new_tiles = new_views("2-D tiles of one matrix, 110 x 110 new", tiles_of_a_matrix(110, 110));
  random_graph();
  if (!wanted.empty()) return 0;
  std::printf("12,000 views over 12: slices known %.2f, new %.2f; tiles known %.2f, new %.2f\n", slices / few_slices,
              new_slices / few_new_slices, tiles / few_tiles, new_tiles / few_new_tiles);
}
