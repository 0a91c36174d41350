// Buffers of the node for chips on other hosts: each has a copy of what its tasks take, fetched before a task; what the
// task has changed goes back after it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/deadline.hpp"
#include "base/parking.hpp"
#include "comm/path.hpp"
#include "node/buffer_table.hpp"
#include "node/courier.hpp"
#include "node/far_message.hpp"

namespace baton::node {

/// Copies what came to the staging memory. Ignores what does not fit.
void take_staging(std::span<std::byte> staging, const FarMessage& message);

struct FarAnswer {
  std::uint64_t request = 0;
  bool refused = false;
  std::span<const std::byte> bytes;
};

/// The node's end. ask() and change() wait for nobody: answers are sent by a thread.
class FarMemoryServer {
 public:
  using Answer = std::function<void(std::uint32_t chip, const FarAnswer& answer)>;

  FarMemoryServer(std::shared_ptr<BufferTable> buffers, Answer answer);
  ~FarMemoryServer();
  FarMemoryServer(const FarMemoryServer&) = delete;
  FarMemoryServer& operator=(const FarMemoryServer&) = delete;

  void ask(std::uint32_t chip, const FarMessage& fetch);
  /// False if there is no such memory.
  [[nodiscard]] bool change(const FarMessage& changes);

 private:
  struct Request {
    std::uint32_t chip;
    std::uint64_t number;
    std::uint64_t buffer;
    std::uint64_t begin;
    std::uint64_t bytes;
  };
  void serve();
  void answer(const Request& request);

  std::shared_ptr<BufferTable> buffers_;
  Answer answer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> requests_;  // guarded by mutex_, like the next
  bool stop_ = false;
  std::thread thread_;
};

/// A chip's end. Of its thread, but for take().
class FarMemory {
 public:
  enum class Use : std::uint8_t { read, write };

  /// `place`: where this thread waits. All live longer.
  FarMemory(Courier& courier, comm::Path& path, const ParkingPlace& place, std::chrono::nanoseconds timeout) noexcept
      : courier_(courier), path_(path), place_(place), timeout_(timeout) {}

  /// The task that comes next uses bytes [begin, end) of this buffer.
  void use(std::uint64_t id, const MappedBuffer& buffer, std::int64_t begin, std::int64_t end, Use use);
  /// Fetches what it uses. Throws wait_timeout, or released if the node does not have it any more.
  void bring();
  /// All bytes of a buffer that no task uses. Throws wait_timeout, released.
  void fetch_all(std::uint64_t id, std::span<std::byte> to);
  /// Sends what it changed, and nothing else. Throws wait_timeout.
  void take_back();
  /// No task comes next.
  void reset() noexcept { used_.clear(); }

  /// An answer of the node came. Under the locks of the path; the caller wakes the thread.
  void take(const FarMessage& data);

 private:
  struct Used {
    std::uint64_t id = 0;
    std::byte* address = nullptr;  // of `begin`
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    Use use = Use::read;
    std::vector<std::byte> before{};  // of those that are written
  };
  struct Fetch {
    std::byte* to;
    std::uint64_t bytes;
  };
  [[nodiscard]] std::size_t open_fetches();
  void fetch(std::uint64_t id, std::uint64_t begin, std::byte* to, std::uint64_t bytes);
  /// In pieces, some of them at once.
  void fetch_pieces(std::uint64_t id, std::uint64_t begin, std::span<std::byte> to);
  /// Until all has come. Throws wait_timeout, released with `what`.
  void await_all(const char* what);
  /// Until at most `most` fetches are open. Throws wait_timeout.
  void await(std::size_t most);

  Courier& courier_;
  comm::Path& path_;
  ParkingPlace place_;
  std::chrono::nanoseconds timeout_;
  std::vector<Used> used_;
  std::uint64_t last_request_ = 0;
  std::mutex mutex_;
  std::map<std::uint64_t, Fetch> fetches_;  // guarded by mutex_, like the next
  bool refused_ = false;
};

}  // namespace baton::node
