// CUDA Graphs and streams, through the driver.
#include <algorithm>
#include <array>

#include "cuda/contenders.hpp"
#include "cuda/driver.hpp"

namespace bench::cuda {
namespace {

/// `nothing` gets a pointer, as a task of ours; `add` adds four floats per thread.
constexpr const char* kKernels = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry nothing(.param .u64 cell) { ret; }
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 sum) {
  .reg .u32 %block, %size, %thread;
  .reg .u64 %at, %x, %y, %z;
  .reg .f32 %p<4>, %q<4>;
  mov.u32 %block, %ctaid.x;
  mov.u32 %size, %ntid.x;
  mov.u32 %thread, %tid.x;
  mad.lo.u32 %thread, %block, %size, %thread;
  mul.wide.u32 %at, %thread, 16;
  ld.param.u64 %x, [a];
  ld.param.u64 %y, [b];
  ld.param.u64 %z, [sum];
  add.u64 %x, %x, %at;
  add.u64 %y, %y, %at;
  add.u64 %z, %z, %at;
  ld.global.v4.f32 {%p0, %p1, %p2, %p3}, [%x];
  ld.global.v4.f32 {%q0, %q1, %q2, %q3}, [%y];
  add.f32 %p0, %p0, %q0;
  add.f32 %p1, %p1, %q1;
  add.f32 %p2, %p2, %q2;
  add.f32 %p3, %p3, %q3;
  st.global.v4.f32 [%z], {%p0, %p1, %p2, %p3};
  ret;
}
)";

constexpr unsigned kWarp = 32;
constexpr unsigned kBlock = 256;
constexpr std::size_t kStreams = 16;

Handle function_named(const char* name) {
  Handle module = nullptr;
  Handle function = nullptr;
  Driver::get().call("cuModuleLoadData", &module, kKernels);
  Driver::get().call("cuModuleGetFunction", &function, module, name);
  return function;
}

Address allocate(std::int64_t bytes) {
  Address address = 0;
  Driver::get().call("cuMemAlloc_v2", &address, static_cast<std::size_t>(bytes));
  Driver::get().call("cuMemsetD8_v2", address, static_cast<unsigned char>(0), static_cast<std::size_t>(bytes));
  return address;
}

Handle make_stream() {
  constexpr unsigned kNonBlocking = 1;
  Handle stream = nullptr;
  Driver::get().call("cuStreamCreate", &stream, kNonBlocking);
  return stream;
}

}  // namespace

Run cuda_graph(const Shape& shape) {
  const Driver& driver = Driver::get();
  Address cell = allocate(sizeof(float));
  void* parameters[] = {&cell};
  const KernelNode task{function_named("nothing"), {1, 1, 1}, {kWarp, 1, 1}, 0, parameters, nullptr, nullptr, nullptr};
  Handle graph = nullptr;
  driver.call("cuGraphCreate", &graph, 0U);
  std::vector<Handle> nodes;
  for (const auto& before : shape.predecessors) {
    std::vector<Handle> after;
    for (const std::uint32_t earlier : before) after.push_back(nodes[earlier]);
    Handle node = nullptr;
    driver.call("cuGraphAddKernelNode_v2", &node, graph, after.data(), after.size(), &task);
    nodes.push_back(node);
  }
  Handle made = nullptr;
  driver.call("cuGraphInstantiateWithFlags", &made, graph, 0ULL);
  return [&driver, made, stream = make_stream()] {
    Driver::check("cuGraphLaunch", driver.launch_graph(made, stream));
    Driver::check("cuStreamSynchronize", driver.wait(stream));
  };
}

Run streams(const Shape& shape) {
  const Driver& driver = Driver::get();
  constexpr unsigned kNoTiming = 2;
  std::vector<Handle> all;
  for (std::size_t i = 0; i < std::min(kStreams, shape.predecessors.size()); ++i) all.push_back(make_stream());
  /// One launch: what its stream waits for, and the event that others wait for.
  struct Launch {
    std::size_t stream = 0;
    std::vector<std::uint32_t> after{};
    Handle ended = nullptr;
  };
  std::vector<Launch> launches;
  for (const auto& before : shape.predecessors) {
    // A chain stays in its stream, which keeps the order; the last of each other stream is enough.
    Launch launch{.stream = before.size() == 1 && launches.size() - before[0] == 1 ? launches[before[0]].stream
                                                                                   : launches.size() % all.size()};
    std::array<bool, kStreams> seen{};
    for (auto earlier = before.rbegin(); earlier != before.rend(); ++earlier) {
      const std::size_t other = launches[*earlier].stream;
      if (other == launch.stream || seen[other]) continue;
      seen[other] = true;
      launch.after.push_back(*earlier);
      if (launches[*earlier].ended == nullptr) driver.call("cuEventCreate", &launches[*earlier].ended, kNoTiming);
    }
    launches.push_back(std::move(launch));
  }
  return [&driver, all, launches, nothing = function_named("nothing"), cell = allocate(sizeof(float))]() mutable {
    void* parameters[] = {&cell};
    for (const Launch& launch : launches) {
      const Handle stream = all[launch.stream];
      for (const std::uint32_t earlier : launch.after) {
        Driver::check("cuStreamWaitEvent", driver.wait_for(stream, launches[earlier].ended, 0));
      }
      Driver::check("cuLaunchKernel", driver.launch(nothing, 1, 1, 1, kWarp, 1, 1, 0, stream, parameters, nullptr));
      if (launch.ended != nullptr) Driver::check("cuEventRecord", driver.record(launch.ended, stream));
    }
    for (const Handle stream : all) Driver::check("cuStreamSynchronize", driver.wait(stream));
  };
}

Run cuda_add(std::int64_t bytes) {
  const Driver& driver = Driver::get();
  const auto blocks = static_cast<unsigned>(bytes / std::int64_t{16 * kBlock});
  return [&driver, blocks, add = function_named("add"), stream = make_stream(), a = allocate(bytes),
          b = allocate(bytes), sum = allocate(bytes)]() mutable {
    void* parameters[] = {&a, &b, &sum};
    Driver::check("cuLaunchKernel", driver.launch(add, blocks, 1, 1, kBlock, 1, 1, 0, stream, parameters, nullptr));
    Driver::check("cuStreamSynchronize", driver.wait(stream));
  };
}

Run cuda_copy(std::int64_t bytes) {
  const Driver& driver = Driver::get();
  return [&driver, bytes, stream = make_stream(), from = allocate(bytes), to = allocate(bytes)] {
    Driver::check("cuMemcpyDtoDAsync", driver.copy(to, from, static_cast<std::size_t>(bytes), stream));
    Driver::check("cuStreamSynchronize", driver.wait(stream));
  };
}

}  // namespace bench::cuda
