// The same graphs as CUDA Graphs, and the bandwidth of a copy. Prints lines as ours.cpp does.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRounds = 7;

__global__ void nothing() {}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

double median_us(const std::function<void()>& run) {
  run();
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) {
    const auto start = Clock::now();
    run();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[kRounds / 2];
}

class Peer {
 public:
  Peer() { check(cudaGraphCreate(&graph_, 0)); }
  cudaGraphNode_t add(const std::vector<cudaGraphNode_t>& after) {
    cudaKernelNodeParams parameters{};
    void* none[] = {nullptr};
    parameters.func = reinterpret_cast<void*>(nothing);
    parameters.gridDim = dim3(1);
    parameters.blockDim = dim3(32);
    parameters.kernelParams = none;
    cudaGraphNode_t node;
    check(cudaGraphAddKernelNode(&node, graph_, after.data(), after.size(), &parameters));
    return node;
  }
  double run() {
    cudaGraphExec_t exec;
    check(cudaGraphInstantiate(&exec, graph_, 0));
    cudaStream_t stream;
    check(cudaStreamCreate(&stream));
    return median_us([&] {
      check(cudaGraphLaunch(exec, stream));
      check(cudaStreamSynchronize(stream));
    });
  }

 private:
  cudaGraph_t graph_;
};

}  // namespace

int main() {
  {
    Peer peer;
    peer.add({});
    std::printf("round_trip %.2f us\n", peer.run());
  }
  {
    Peer peer;
    constexpr int kTasks = 20000;
    for (int i = 0; i < kTasks; ++i) peer.add({});
    std::printf("independent %.2f tasks/us\n", kTasks / peer.run());
  }
  {
    Peer peer;
    constexpr int kTasks = 2000;
    std::vector<cudaGraphNode_t> last;
    for (int i = 0; i < kTasks; ++i) last = {peer.add(last)};
    std::printf("chain %.3f us/task\n", peer.run() / kTasks);
  }
  {
    Peer peer;
    constexpr int kFans = 50;
    std::vector<cudaGraphNode_t> last;
    for (int i = 0; i < kFans; ++i) {
      const auto root = peer.add(last);
      last.clear();
      for (int k = 0; k < 64; ++k) last.push_back(peer.add({root}));
    }
    peer.add(last);
    std::printf("fan_1_64_1 %.2f us\n", peer.run() / kFans);
  }
  {
    Peer peer;
    constexpr int kSteps = 20;
    std::vector<cudaGraphNode_t> last(128);
    for (auto& node : last) node = peer.add({});
    for (int step = 1; step < kSteps; ++step) {
      std::vector<cudaGraphNode_t> next;
      for (int i = 0; i < 128; ++i) {
        std::vector<cudaGraphNode_t> after(last.begin() + std::max(i - 1, 0), last.begin() + std::min(i + 2, 128));
        next.push_back(peer.add(after));
      }
      last = next;
    }
    std::printf("stencil_128 %.2f us/step\n", peer.run() / kSteps);
  }
  {
    constexpr size_t kBytes = size_t{1} << 30;
    void* from;
    void* to;
    check(cudaMalloc(&from, kBytes));
    check(cudaMalloc(&to, kBytes));
    const double time = median_us([&] {
      for (int i = 0; i < 10; ++i) check(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDeviceToDevice));
      check(cudaDeviceSynchronize());
    });
    std::printf("copy_1GiB %.3f TB/s\n", 2.0 * 10 * kBytes / time / 1e6);
  }
}
