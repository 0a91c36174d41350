// One GPU as this process has it: chips that are parts of it share its context, its kernels and the knowledge of what
// runs.
//
// The driver loads and unloads code, and frees memory and unregisters pages of the host, only while no kernel runs:
// until then it blocks the thread that asks. Kernels of one chip may wait for another chip, so nothing of that is asked
// for while any runs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <pto/target/cuda/run.hpp>

#include "platform/cuda/driver.hpp"
#include "platform/cuda/image.hpp"

namespace baton::cuda {

class Program;

/// A function of a device that a library brought.
struct LoadedKernel {
  const Image* image;
  std::string name;
  std::string symbol;
};

/// Any thread.
class SharedGpu {
 public:
  /// The one of this process with that number, made when nobody has it yet.
  [[nodiscard]] static std::shared_ptr<SharedGpu> open(int ordinal);
  explicit SharedGpu(int ordinal);
  SharedGpu(const SharedGpu&) = delete;
  SharedGpu& operator=(const SharedGpu&) = delete;
  ~SharedGpu();

  /// The calling thread works with this GPU from now on.
  void make_current() const { Driver::get().check("using the GPU", Driver::get().context_set(context_)); }
  [[nodiscard]] int ordinal() const noexcept { return ordinal_; }
  [[nodiscard]] Context context() const noexcept { return context_; }
  /// Memory of the pool is given and taken while kernels run.
  [[nodiscard]] MemoryPool pool() const noexcept { return pool_; }
  /// As compilers call it: sm_90a.
  [[nodiscard]] const std::string& architecture() const noexcept { return architecture_; }
  [[nodiscard]] int attribute(DeviceAttribute which) const;

  /// Kernels reach memory of `peer`, another GPU of this process, from now on. Throws Error (unsupported).
  void reach(Context peer, int ordinal);
  /// Whether it does so of any.
  [[nodiscard]] bool spans_gpus() const noexcept { return spans_gpus_; }

  /// With the first kernel of a file come all its typed ones: a user of another one of them does not wait for
  /// kernels that run, which may wait for it.
  [[nodiscard]] LoadedKernel* load(const std::string& path, const std::string& name);
  /// Whether there is one: what runs tasks comes with it.
  [[nodiscard]] bool has_kernels();
  /// All kernels that are loaded, linked; the same one until another kernel is loaded. Waits for kernels that run, if
  /// there is something to load.
  [[nodiscard]] std::shared_ptr<const Program> program();

  /// Parts of windows, which peers reach, as long as they exist: strict pipes ask.
  void add_window(Extent part);
  void remove_window(std::uint64_t begin);
  [[nodiscard]] std::vector<Extent> windows();

  /// Cores that stay on the GPU while nothing runs.
  class Guest {
   public:
    Guest() = default;
    Guest(const Guest&) = delete;
    Guest& operator=(const Guest&) = delete;
    virtual ~Guest() = default;
    /// They are gone when it returns. On any thread.
    virtual void leave() noexcept = 0;
  };
  /// Guests leave, unless something runs: what comes next needs the multiprocessors.
  void make_way();
  void add(Guest& guest);
  void remove(Guest& guest);

  /// Kernels run while it lives.
  class Running {
   public:
    explicit Running(SharedGpu& gpu) : gpu_(gpu) { gpu_.begin_run(); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() { gpu_.end_run(); }

   private:
    SharedGpu& gpu_;
  };

  /// Calls `action` now, or when the last run ends. Nobody is on the GPU then.
  void when_idle(std::function<void()> action);

 private:
  void begin_run();
  void end_run() noexcept;
  void load_program(std::unique_lock<std::mutex>& lock);
  /// Nothing runs; guests leave.
  void empty() noexcept;

  int ordinal_;
  DeviceNumber device_ = 0;
  Context context_ = nullptr;
  MemoryPool pool_ = nullptr;
  std::string architecture_;
  std::atomic<bool> spans_gpus_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::map<std::string, std::unique_ptr<Image>> images_;
  std::vector<std::unique_ptr<LoadedKernel>> kernels_;
  std::shared_ptr<const Program> program_;
  std::size_t linked_ = 0;  // how many of the kernels it has
  int running_ = 0;
  int waiting_loads_ = 0;
  bool loading_ = false;
  std::vector<std::function<void()>> when_idle_;
  std::vector<Guest*> guests_;
  std::vector<Extent> windows_;
};

}  // namespace baton::cuda
