// Graphs: an orchestration submits kernels, and the runtime finds out which must wait for which.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <baton/export.hpp>
#include <baton/kernel_handle.hpp>
#include <baton/place.hpp>
#include <baton/signal.hpp>
#include <baton/tensor.hpp>

namespace baton {

namespace chip {
class GraphState;
}

/// A submitted task: 1, 2, 3 ... in the order of submission. 0: none.
using TaskId = std::uint64_t;

/// What a kernel does with a tensor, where no signature says it.
enum class Access : std::uint8_t {
  in,
  out,
  inout,
  no_dependency,  // it uses the tensor, but nobody waits for anybody because of it
};

/// Which edges a graph has.
enum class Edges : std::uint8_t {
  inferred,  // from what tasks do with their tensors
  named,     // only those that TaskOptions names: after and tokens
};

class Argument;

template <class T>
concept ScalarArgument =
    !std::is_same_v<std::remove_cvref_t<T>, Argument> && !std::is_same_v<std::remove_cvref_t<T>, Tensor>;

/// An argument of a kernel that has no signature, or of which only the caller knows what it does.
class Argument {
 public:
  /// A tensor; not copied: it must live until submit() returns.
  Argument(Access access, const Tensor& tensor) noexcept : tensor_(&tensor), access_(access) {}
  /// A scalar of at most 8 bytes. Not explicit: scalars stand beside tensors in a list of arguments.
  template <ScalarArgument Scalar>
  Argument(Scalar value) noexcept : slot_(scalar_slot(value)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] const Tensor* tensor() const noexcept { return tensor_; }
  [[nodiscard]] Access access() const noexcept { return access_; }
  [[nodiscard]] std::int64_t slot() const noexcept { return slot_; }

 private:
  const Tensor* tensor_ = nullptr;
  Access access_ = Access::in;
  std::int64_t slot_ = 0;
};

/// Whether a task runs at all: `element CMP value`, read when the task is ready.
struct Predicate {
  /// One element of an integer type. The task waits for the tasks that write it, as for an argument that it reads.
  Tensor element;
  WaitCmp comparison = WaitCmp::ne;
  std::int64_t value = 0;
};

/// How a task is run.
struct TaskOptions {
  /// N blocks of the kernel, each with its own get_block_idx().
  std::uint32_t blocks = 1;
  /// All blocks are on cores at the same time: they may wait for each other.
  bool start_together = false;
  /// Higher ones first, among tasks that are ready. Below 0: after those that say nothing.
  std::int32_t priority = 0;
  /// It waits for these, too.
  std::vector<TaskId> after = {};
  /// And for the tasks that output these. The kernel does not see them.
  std::vector<Tensor> tokens = {};
  /// Without it: always. A task that does not run is complete at once; what it would have written stays as it is.
  std::optional<Predicate> only_if = std::nullopt;
  /// For kernels of the older form: one more scalar, the address of a completion queue. The task is complete when the
  /// conditions hold that the kernel has put there.
  bool completion_queue = false;
};

/// The kernels of a task for a whole cluster. All get the same arguments. Null: that core has nothing to do.
struct ClusterTask {
  const Kernel* cube = nullptr;
  std::array<const Kernel*, 2> vector{};
};

/// An argument for a parameter of a typed kernel: a tensor, or the scalar itself. It brings along where it was written.
template <class Parameter, bool kIsTensor = KernelParameter<Parameter>::kIsTensor>
struct ArgumentFor {
  ArgumentFor(const Tensor& tensor, Place where = Place::here()) noexcept  // NOLINT(google-explicit-constructor)
      : argument(kAccess, tensor), place(where) {}

  static constexpr Access kAccess = KernelParameter<Parameter>::kDirection == BATON_DIRECTION_IN    ? Access::in
                                    : KernelParameter<Parameter>::kDirection == BATON_DIRECTION_OUT ? Access::out
                                                                                                    : Access::inout;
  Argument argument;
  Place place;
};
template <class Scalar>
struct ArgumentFor<Scalar, false> {
  ArgumentFor(Scalar value, Place where = Place::here()) noexcept  // NOLINT(google-explicit-constructor)
      : argument(value), place(where) {}

  Argument argument;
  Place place;
};

class CapturedGraph;

/// Where a graph was captured with the memory of one tensor, it uses that of another.
struct Binding {
  Tensor captured;
  Tensor instead;
};

/// Used by the orchestration, on its thread, until it returns.
class BATON_API Graph {
 public:
  explicit Graph(chip::GraphState& state) noexcept : state_(&state) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Submits a kernel whose parameters are known: tensors and scalars in the order of its definition. Waits while too
  /// many tasks are in flight.
  template <class... Parameters>
  TaskId submit(const TypedKernel<Parameters...>& kernel,
                const std::type_identity_t<ArgumentFor<Parameters>>&... arguments) {
    return submit(TaskOptions{}, kernel, arguments...);
  }
  template <class... Parameters>
  TaskId submit(const TaskOptions& options, const TypedKernel<Parameters...>& kernel,
                const std::type_identity_t<ArgumentFor<Parameters>>&... arguments) {
    const std::array<Argument, sizeof...(Parameters)> all = {arguments.argument...};
    Place where;
    ((where = where.line == 0 ? arguments.place : where), ...);
    return submit_signed(kernel, all, options, where);
  }
  /// Submits any kernel. Tensors come first, then scalars.
  TaskId submit(const Kernel& kernel, std::initializer_list<Argument> arguments, const TaskOptions& options = {},
                Place where = Place::here()) {
    return submit_arguments(kernel, {arguments.begin(), arguments.size()}, options, where);
  }
  TaskId submit_arguments(const Kernel& kernel, std::span<const Argument> arguments, const TaskOptions& options = {},
                          Place where = Place::here()) {
    return submit_signed(kernel, arguments, options, where);
  }
  /// A task of a whole cluster.
  TaskId submit(const ClusterTask& kernels, std::span<const Argument> arguments, const TaskOptions& options = {},
                Place where = Place::here());
  TaskId submit(const ClusterTask& kernels, std::initializer_list<Argument> arguments, const TaskOptions& options = {},
                Place where = Place::here()) {
    return submit(kernels, std::span<const Argument>(arguments.begin(), arguments.size()), options, where);
  }
  /// A task without a kernel: only edges.
  TaskId submit_empty(std::span<const Argument> arguments, const TaskOptions& options = {},
                      Place where = Place::here());
  TaskId submit_empty(std::initializer_list<Argument> arguments, const TaskOptions& options = {},
                      Place where = Place::here()) {
    return submit_empty(std::span<const Argument>(arguments.begin(), arguments.size()), options, where);
  }

  /// A task that reads the tensor and writes it into a file of NumPy's, if ChipOptions::dump or BATON_DUMP names a
  /// folder; otherwise a task without a kernel. The file's name has the rank, the chip, the run and the number of the
  /// dump in it, and `name`. In a captured graph, each run writes a file.
  TaskId dump(const Tensor& tensor, std::string_view name, std::span<const TaskId> after = {},
              Place where = Place::here());
  /// Whether dumps are written.
  [[nodiscard]] bool dumps() const noexcept;

  /// Submits all tasks of a captured graph, without calling its orchestration: with other memory where `bindings` say
  /// so, and with outputs of their own, which live until the last of these tasks is complete. Edges to other tasks of
  /// this graph are found as for each of them alone. One of them waits for notifications as in one run more of that
  /// graph.
  void submit_graph(CapturedGraph& graph, std::span<const Binding> bindings, Place where = Place::here());
  void submit_graph(CapturedGraph& graph, std::initializer_list<Binding> bindings = {}, Place where = Place::here()) {
    submit_graph(graph, std::span<const Binding>(bindings.begin(), bindings.size()), where);
  }

  /// A task that completes when `*signal >= expected`. A task that takes the token as an input waits for that.
  [[nodiscard]] Tensor submit_notification_wait(const std::int32_t* signal, std::int32_t expected,
                                                Place where = Place::here());

  /// Memory of the runtime: it lives until the scope ends and nobody uses it any more.
  [[nodiscard]] Tensor output(DType dtype, std::span<const std::int64_t> shape, Place where = Place::here());
  [[nodiscard]] Tensor output(DType dtype, std::initializer_list<std::int64_t> shape, Place where = Place::here()) {
    return output(dtype, std::span<const std::int64_t>(shape.begin(), shape.size()), where);
  }
  /// The same with `value` in every element when the task runs that is submitted next.
  template <class T>
  [[nodiscard]] Tensor filled_output(std::span<const std::int64_t> shape, T value, Place where = Place::here()) {
    return filled_output(kDTypeOf<T>, shape, &value, where);
  }
  template <class T>
  [[nodiscard]] Tensor filled_output(std::initializer_list<std::int64_t> shape, T value, Place where = Place::here()) {
    return filled_output(kDTypeOf<T>, std::span<const std::int64_t>(shape.begin(), shape.size()), &value, where);
  }
  /// `value` points to one element.
  [[nodiscard]] Tensor filled_output(DType dtype, std::span<const std::int64_t> shape, const void* value,
                                     Place where = Place::here());
  /// The tensor lives on in the scope around the present one.
  void keep(const Tensor& output);

  /// A scope ends with the object.
  class BATON_API Scope {
   public:
    Scope(Scope&& other) noexcept
        : graph_(std::exchange(other.graph_, nullptr)), id_(other.id_), edges_after_(other.edges_after_) {}
    Scope& operator=(Scope&&) = delete;
    ~Scope();

   private:
    friend class Graph;
    Scope(Graph& graph, std::uint64_t id, Edges edges_after) noexcept
        : graph_(&graph), id_(id), edges_after_(edges_after) {}
    Graph* graph_;
    std::uint64_t id_;
    Edges edges_after_;
  };
  /// Inside it, edges are as around it.
  [[nodiscard]] Scope scope(Place where = Place::here());
  [[nodiscard]] Scope scope(Edges edges, Place where = Place::here());
  /// Inside it, edges are named.
  [[nodiscard]] Scope manual_scope(Place where = Place::here()) { return scope(Edges::named, where); }

  /// One element; waits for the tasks that write it. While a graph is captured, of memory that none of its tasks
  /// writes.
  template <class T>
  [[nodiscard]] T get(const Tensor& tensor, std::span<const std::int64_t> position) {
    T value{};
    get_element(tensor, kDTypeOf<T>, position, &value);
    return value;
  }
  template <class T>
  [[nodiscard]] T get(const Tensor& tensor, std::initializer_list<std::int64_t> position) {
    return get<T>(tensor, std::span<const std::int64_t>(position.begin(), position.size()));
  }
  /// Waits for the tasks that write or read the element, then changes it. While a graph is captured, of memory that
  /// none of its tasks uses.
  template <class T>
  void set(const Tensor& tensor, std::span<const std::int64_t> position, T value) {
    set_element(tensor, kDTypeOf<T>, position, &value);
  }
  template <class T>
  void set(const Tensor& tensor, std::initializer_list<std::int64_t> position, T value) {
    set<T>(tensor, std::span<const std::int64_t>(position.begin(), position.size()), value);
  }
  /// The same where the type is known at run time: `into` and `from` are one element.
  void get_element(const Tensor& tensor, DType dtype, std::span<const std::int64_t> position, void* into);
  void set_element(const Tensor& tensor, DType dtype, std::span<const std::int64_t> position, const void* from);

  /// Waits until the task is complete.
  void wait(TaskId task);
  /// Whether a submission would wait now, because as many tasks are in flight as the window holds.
  [[nodiscard]] bool full() const noexcept;

  [[nodiscard]] int clusters() const noexcept;
  [[nodiscard]] int vector_cores() const noexcept;
  /// What kernels pass to asynchronous copies as the workspace of the DMA engine: not null where there is one.
  [[nodiscard]] void* dma_workspace() const noexcept;

 private:
  /// Arguments in the order of the signature.
  TaskId submit_signed(const Kernel& kernel, std::span<const Argument> arguments, const TaskOptions& options,
                       const Place& where);

  chip::GraphState* state_;
};

}  // namespace baton
