// A chip: cores, memory, and the runtime that runs graphs on them.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <baton/captured_graph.hpp>
#include <baton/chip_window.hpp>
#include <baton/export.hpp>
#include <baton/graph.hpp>
#include <baton/in_place.hpp>
#include <baton/memory_place.hpp>
#include <baton/place.hpp>
#include <baton/task_profile.hpp>
#include <baton/tensor.hpp>

namespace baton {

class Domain;

namespace chip {
class ChipState;
}

struct ChipOptions {
  /// The generation: a2a3sim or a5sim; or another platform, whose library libbaton_<platform>.so is found at run time:
  /// cuda, a2a3, a5, or a path.
  std::string platform = "a2a3sim";
  /// Which one, of a platform that has several.
  int device = 0;
  /// Of how many `device` is one: where there are fewer of them, each is a part of one. 0: as many as there are.
  int device_count = 0;
  /// 0: as many as the platform has.
  int clusters = 0;
  /// Threads that run cores. 0: as many as there are processors for each rank of the job, at least 1. On a fiber the
  /// chip shares the fiber's thread.
  int threads = 0;
  /// Tasks in flight before the orchestration waits; deferred tasks do not count. 0: BATON_TASK_WINDOW.
  std::uint64_t task_window = 0;
  /// Memory for outputs that the runtime allocates. 0: BATON_OUTPUT_HEAP.
  std::uint64_t output_heap_bytes = 0;
  /// How long a kernel may run before it is interrupted, which is an error. 0: as long as it likes. Without it:
  /// BATON_KERNEL_TIMEOUT.
  std::optional<std::chrono::nanoseconds> kernel_timeout = std::nullopt;
  /// What a chip leaves open follows from it: which ready task goes first, turns of cores between instructions, when
  /// copies and notifications arrive. Without it: BATON_SEED.
  std::optional<std::uint64_t> seed = std::nullopt;
  /// Without it: as BATON_IN_PLACE says. Not with a seed, and not on a fiber.
  std::optional<InPlace> in_place = std::nullopt;
  /// Without it: as BATON_PROFILE says.
  std::optional<ProfileMode> profile = std::nullopt;
  /// The folder for Graph::dump(). Without it: BATON_DUMP.
  std::optional<std::string> dump = std::nullopt;
};

/// How a graph is built.
struct GraphOptions {
  Edges edges = Edges::inferred;
};

/// Used by one thread at a time; made and destroyed on the same one.
class BATON_API Chip {
 public:
  /// Without peers.
  explicit Chip(const ChipOptions& options = {});
  /// A rank of `me`: its kernels reach the windows of all domains of this rank. (A template, because gcc 13 crashes
  /// when it asks whether options in braces could be a Domain.)
  template <std::same_as<Domain> Rank>
  explicit Chip(const Rank& me, const ChipOptions& options = {}) : Chip(options, &me) {}
  Chip(const Chip&) = delete;
  Chip& operator=(const Chip&) = delete;
  ~Chip();

  /// Memory of the chip, zeroed, until free() or the end of the chip.
  [[nodiscard]] Tensor alloc(DType dtype, std::initializer_list<std::int64_t> shape, std::string_view name = "buffer");
  template <class T>
  [[nodiscard]] Tensor alloc(std::initializer_list<std::int64_t> shape, std::string_view name = "buffer") {
    return alloc(kDTypeOf<T>, shape, name);
  }
  void free(const Tensor& tensor);

  /// Lets kernels use memory of somebody else, who keeps it alive until remove() or the end of the chip.
  template <class T>
  [[nodiscard]] Tensor add(std::span<T> memory, std::string_view name = "external") {
    add_memory(Tensor::buffer_of(memory), name);
    return Tensor::over(memory);
  }
  /// The same for memory that lies elsewhere: on the device of this chip, if it has one. Chips that are given the
  /// same memory say so to `baton check` by the same `memory.id`, other than 0.
  void add_memory(const Buffer& memory, std::string_view name, const MemoryPlace& place = {});
  void remove(const Tensor& external);

  /// A window of `domain`, whose member this chip's rank is, where kernels reach it: Domain::raw_window() unless the
  /// tensors of this chip lie elsewhere than on the host. Zeroed. Collective over the domain; all chips are of one
  /// platform. Any thread, also while the chip runs something.
  [[nodiscard]] ChipWindow window(const Domain& domain, std::string_view name, std::size_t bytes);

  /// As ChipOptions says.
  [[nodiscard]] const std::string& platform() const noexcept;

  /// Where its tensors lie. Unless that is the host, only copies and kernels reach them.
  [[nodiscard]] MemoryPlace memory_place() const noexcept;

  /// Copies between the host and a contiguous tensor of the chip, whole.
  template <class T>
  void copy_in(const Tensor& to, std::span<const T> from) {
    copy_bytes_in(to, kDTypeOf<T>, from.data(), from.size());
  }
  template <class T>
  void copy_out(const Tensor& from, std::span<T> to) {
    copy_bytes_out(from, kDTypeOf<T>, to.data(), to.size());
  }

  /// Runs an orchestration and all that it submits. Throws what went wrong first, once, with the task, its kernel, the
  /// place of its submission and what did not run because of it; the chip can be used again then.
  void run(const std::function<void(Graph&)>& orchestration, const GraphOptions& options = {},
           Place where = Place::here());

  /// Builds a graph without running it: its tasks, its edges and its outputs are kept for run(). Nothing has happened
  /// yet when the orchestration returns, so it may neither wait() nor get() nor set(). In run k of a captured graph, a
  /// wait for a notification waits for k times what was expected: signals count on and are never reset.
  [[nodiscard]] CapturedGraph capture(const std::function<void(Graph&)>& orchestration,
                                      const GraphOptions& options = {}, Place where = Place::here());
  /// Runs a captured graph, with other memory where `bindings` say so. Throws like run() of an orchestration, after
  /// which it can be run again.
  void run(CapturedGraph& graph, std::initializer_list<Binding> bindings = {}) {
    run_captured(graph, {bindings.begin(), bindings.size()});
  }
  void run_captured(CapturedGraph& graph, std::span<const Binding> bindings);

  /// What tasks did in all runs so far. Throws Error (invalid_argument) unless they are profiled.
  [[nodiscard]] TaskProfile task_profile() const;

  [[nodiscard]] int clusters() const noexcept;
  [[nodiscard]] int cube_cores() const noexcept { return clusters(); }
  [[nodiscard]] int vector_cores() const noexcept { return 2 * clusters(); }

 private:
  Chip(const ChipOptions& options, const Domain* me);
  void copy_bytes_in(const Tensor& to, DType dtype, const void* from, std::size_t count);
  void copy_bytes_out(const Tensor& from, DType dtype, void* to, std::size_t count);

  std::unique_ptr<chip::ChipState> state_;
};

}  // namespace baton
