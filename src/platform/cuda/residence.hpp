// Cores of a chip that stay on the GPU between runs, and the rings that bring them commands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <baton/platform.h>

#include <pto/target/cuda/feed.hpp>

#include "platform/cuda/gpu.hpp"
#include "platform/cuda/gpu_memory.hpp"
#include "platform/cuda/program.hpp"

namespace baton::cuda {

/// Thrown by waits: a kernel has brought the GPU down. The waiter knows which ones ran: raise_crash().
struct GpuDown {
  Result result;
};

/// For the thread that runs something on the chip; leave(): another one, while nothing runs on the GPU.
class Residence final : public SharedGpu::Guest {
 public:
  explicit Residence(Gpu& gpu);
  Residence(const Residence&) = delete;
  Residence& operator=(const Residence&) = delete;
  ~Residence() override;

  /// What all runs have in common: words and memory that belong to the cores.
  [[nodiscard]] const Run& run() const noexcept { return stay_.run; }
  /// A number that no description of a run has had.
  [[nodiscard]] std::uint32_t new_version() noexcept { return ++versions_; }

  // Commands. While a SharedGpu::Running lives.

  /// The cores run code of this program from now on.
  void use(const std::shared_ptr<const Program>& program);
  /// How many commands a core was given since the last reset().
  [[nodiscard]] std::uint64_t given(std::size_t core) const noexcept { return given_[core]; }
  /// Whether it has ended this many of them, as far as was seen.
  [[nodiscard]] bool was_seen_to_end(std::size_t core, std::uint64_t commands) const noexcept {
    return seen_[core] >= commands;
  }
  /// The same now.
  [[nodiscard]] bool has_ended(std::size_t core, std::uint64_t commands) noexcept {
    return was_seen_to_end(core, commands) || look(core) >= commands;
  }
  /// How many it has to end, as far as was seen.
  [[nodiscard]] std::uint64_t load(std::size_t core) const noexcept { return given_[core] - seen_[core]; }
  [[nodiscard]] bool has_room(std::size_t core) noexcept {
    return load(core) < kPlaces || given_[core] - look(core) < kPlaces;
  }
  void look_at_all() noexcept {
    for (std::size_t core = 0; core < cores_; ++core) static_cast<void>(look(core));
  }
  /// How often all began anew.
  [[nodiscard]] std::uint64_t resets() const noexcept { return resets_; }
  /// Into a place that is free: begins with a CommandHead, whose `words` are right.
  void write(std::size_t core, const std::uint32_t* parts, std::uint32_t words) noexcept;
  /// What was written is done soon.
  void ring();
  /// Until `holds()`. False: a core has failed before that. Throws Error if a core does not come to an end, and
  /// GpuDown.
  template <class Holds>
  [[nodiscard]] bool wait_until(const BatonRunOptions& options, Holds&& holds) {
    Patience patience(*this, options);
    while (!holds()) {
      if (!patience.look()) return false;
    }
    return true;
  }

  /// After a failure: all is as in the beginning.
  void reset();
  void leave() noexcept override;

 private:
  friend struct HostSide;

  /// A wait, and when it ends otherwise.
  class Patience {
   public:
    Patience(Residence& cores, const BatonRunOptions& options);
    /// False: a core has failed.
    [[nodiscard]] bool look();

   private:
    void look_far();
    Residence& cores_;
    const BatonRunOptions& options_;
    std::uint64_t looks_ = 0;
    std::uint64_t progress_ = 0;
    std::int64_t progress_at_ = 0;
  };

  /// How many commands it has ended.
  std::uint64_t look(std::size_t core) noexcept;
  /// A number that changes whenever a command ends.
  [[nodiscard]] std::uint64_t progress() noexcept;
  void launch();
  /// Until no core is left. Throws Error.
  void wait_for_end();

  Gpu& gpu_;
  OwnedStream stream_;
  std::size_t cores_;
  PinnedMemory shared_;  // HostWords, what has ended, and the rings
  GpuMemory words_;
  HostWords* host_ = nullptr;
  std::uint32_t* ended_ = nullptr;
  Word* rings_ = nullptr;
  Stay stay_{};
  std::shared_ptr<const Program> program_;
  std::vector<std::uint64_t> given_;
  std::vector<std::uint64_t> seen_;
  std::uint64_t resets_ = 0;
  std::uint64_t commands_ = 0;
  std::uint32_t launches_ = 0;
  std::uint32_t versions_ = 0;
  bool launched_ = false;
  bool broken_ = false;  // no way is known to get the GPU back
};

}  // namespace baton::cuda
