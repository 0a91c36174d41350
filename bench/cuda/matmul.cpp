// Products of matrices of bfloat16: tile instructions, and NVIDIA's cuBLAS, which is loaded at run time.
#include <dlfcn.h>

#include <random>

#include <baton/chip.hpp>
#include <baton/kernel_source.hpp>

#include "cuda/contenders.hpp"
#include "cuda/driver.hpp"

#include <pto/common/bfloat16.hpp>

template <>
struct baton::detail::DTypeOf<bfloat16_t> {
  static constexpr DType kValue = DType::bfloat16;
};

namespace bench::cuda {
namespace {

/// Zeros would be faster than numbers of a program: they take less power.
std::vector<bfloat16_t> some_numbers(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<bfloat16_t> out;
  out.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) out.emplace_back(static_cast<float>(generator() % 256) / 256 - 0.5F);
  return out;
}

/// A kernel of ours, its matrices and its graph.
struct Product {
  Product(std::int64_t side, Checks checks)
      : file(baton::KernelFile::compile({.source = CUDA_MATMUL_KERNELS,
                                         .core = BATON_CORE_CUBE,
                                         .platform = "cuda",
                                         .defines = checks == Checks::off ? std::vector<std::string>{"PTO_NO_CHECKS"}
                                                                          : std::vector<std::string>{}})),
        matmul(file.kernel("matmul_by_rows")),
        chip({.platform = "cuda"}),
        a(chip.alloc(baton::DType::bfloat16, {side, side}, "a")),
        b(chip.alloc(baton::DType::bfloat16, {side, side}, "b")),
        c(chip.alloc(baton::DType::bfloat16, {side, side}, "c")) {
    chip.copy_in<bfloat16_t>(a, some_numbers(side * side, 1));
    chip.copy_in<bfloat16_t>(b, some_numbers(side * side, 2));
    const auto blocks = static_cast<std::uint32_t>(3 * chip.clusters());
    graph = std::make_unique<baton::CapturedGraph>(chip.capture([&](baton::Graph& captured) {
      captured.submit(matmul.get(), {{baton::Access::in, a}, {baton::Access::in, b}, {baton::Access::out, c}},
                      {.blocks = blocks});
    }));
  }

  baton::KernelFile file;
  baton::LoadedKernel matmul;
  baton::Chip chip;
  baton::Tensor a;
  baton::Tensor b;
  baton::Tensor c;
  std::unique_ptr<baton::CapturedGraph> graph;
};

class Cublas {
 public:
  Cublas() {
    for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}) {
      if (library_ == nullptr) library_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (library_ == nullptr) throw std::runtime_error("there is no cuBLAS (libcublas.so)");
    Driver::check("cublasCreate", find<int(Handle*)>("cublasCreate_v2")(&handle_));
  }

  template <class Function>
  [[nodiscard]] Function* find(const char* name) const {
    void* found = ::dlsym(library_, name);
    if (found == nullptr) throw std::runtime_error(std::string("cuBLAS has no ") + name);
    return reinterpret_cast<Function*>(found);
  }
  [[nodiscard]] Handle handle() const { return handle_; }

 private:
  void* library_ = nullptr;
  Handle handle_ = nullptr;
};

Address matrix_on_gpu(std::int64_t side, unsigned seed) {
  const std::vector<bfloat16_t> numbers = some_numbers(side * side, seed);
  const std::size_t bytes = numbers.size() * sizeof(bfloat16_t);
  Address address = 0;
  Driver::get().call("cuMemAlloc_v2", &address, bytes);
  Driver::get().call("cuMemcpyHtoD_v2", address, static_cast<const void*>(numbers.data()), bytes);
  return address;
}

}  // namespace

Run matmul(std::int64_t side, Checks checks) {
  auto made = std::make_shared<Product>(side, checks);
  return [made] { made->chip.run(*made->graph); };
}

Run cublas_matmul(std::int64_t side) {
  const Driver& driver = Driver::get();
  const Cublas cublas;
  Handle stream = nullptr;
  constexpr unsigned kNonBlocking = 1;
  driver.call("cuStreamCreate", &stream, kNonBlocking);
  Driver::check("cublasSetStream", cublas.find<int(Handle, Handle)>("cublasSetStream_v2")(cublas.handle(), stream));
  const auto multiply = cublas.find<int(Handle, int, int, int, int, int, const void*, const void*, int, int,
                                        const void*, int, int, const void*, void*, int, int, int, int)>("cublasGemmEx");
  return [&driver, multiply, stream, handle = cublas.handle(), n = static_cast<int>(side), a = matrix_on_gpu(side, 1),
          b = matrix_on_gpu(side, 2), c = matrix_on_gpu(side, 3)] {
    // Of cuBLAS's enumerations. It has matrices by columns: the transposed product is that of the factors exchanged.
    constexpr int kAsItIs = 0;
    constexpr int kBfloat16 = 14;
    constexpr int kInFloat = 68;
    constexpr int kAnyAlgorithm = -1;
    const float one = 1;
    const float zero = 0;
    Driver::check("cublasGemmEx", multiply(handle, kAsItIs, kAsItIs, n, n, n, &one, reinterpret_cast<const void*>(b),
                                           kBfloat16, n, reinterpret_cast<const void*>(a), kBfloat16, n, &zero,
                                           reinterpret_cast<void*>(c), kBfloat16, n, kInFloat, kAnyAlgorithm));
    Driver::check("cuStreamSynchronize", driver.wait(stream));
  };
}

}  // namespace bench::cuda
