// One chip, opened: its context, memory, streams and kernels.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "platform/ascend/cann.hpp"
#include "platform/ascend/kernels.hpp"

namespace baton::ascend {

/// Used by one thread at a time. Beside one that runs a graph another may allocate, free, copy and open windows.
class Npu {
 public:
  /// Throws Error if there is no such chip, or if it is of another generation.
  explicit Npu(int id);
  Npu(const Npu&) = delete;
  Npu& operator=(const Npu&) = delete;
  ~Npu();

  /// Gives everything back. Throws the first failure, after the rest.
  void close();

  /// The calling thread works with this chip from now on. Throws if the chip was lost.
  void make_current() const;
  /// The same while things end: false if the chip was lost, and nothing of it can be given back one by one.
  [[nodiscard]] bool make_current(Ending& ending) const;
  [[nodiscard]] int id() const noexcept { return id_; }
  [[nodiscard]] bool is_lost() const noexcept;
  /// Of a cube core and two vector cores each.
  [[nodiscard]] std::uint32_t clusters() const noexcept { return clusters_; }
  /// Throws Error if the chip has fewer.
  void set_clusters(std::uint32_t clusters);
  [[nodiscard]] Handle stream(Kind kind) const noexcept { return streams_[static_cast<std::size_t>(kind)]; }

  /// Zeroed.
  [[nodiscard]] std::uint64_t alloc(std::size_t bytes);
  void free(std::uint64_t address);
  /// Zeroes.
  void clear(std::uint64_t address, std::size_t bytes) const;
  void copy_in(std::uint64_t to, const void* from, std::size_t bytes) const;
  void copy_out(void* to, std::uint64_t from, std::size_t bytes) const;

  [[nodiscard]] Kernels& kernels() noexcept { return kernels_; }

  /// This chip reaches memory of chip `peer`, as this process numbers it, from now on; not the other way round.
  void reach(std::int32_t peer);

  /// Event number `index` of this chip, made when it is first asked for.
  [[nodiscard]] Handle event(std::size_t index);

  /// After a failure: makes streams and events anew. If that fails, too, the chip is lost.
  void recover(const Error& cause);
  /// It does not end what it does: nothing can be done with it any more.
  void lose(const Error& cause);

 private:
  [[nodiscard]] std::int64_t attribute(std::int32_t which) const;
  void make_streams();
  void end_streams(Ending& ending);
  void release(Ending& ending);
  void release_device(Ending& ending);

  int id_;
  bool in_process_ = false;  // the runtime counts it
  bool is_set_ = false;
  Handle context_ = nullptr;
  std::uint32_t clusters_ = 0;
  std::array<Handle, kKinds> streams_{};
  std::vector<Handle> events_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::size_t> memory_;  // guarded by mutex_
  std::set<std::int32_t> peers_;                 // that it reaches; by one thread at a time
  Kernels kernels_{*this};
  std::string lost_;  // why; empty while it is not; guarded by mutex_
};

}  // namespace baton::ascend
