// What PyTorch's process group needs of Baton, with neither the headers of PyTorch nor those of Baton.
//
// libbaton_torch.so implements it and is built with Baton; the code that includes PyTorch's headers is compiled against
// the PyTorch that is installed, whose std::string may be another one than Baton's: none crosses this border.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>

#include <baton/collective_types.hpp>
#include <baton/export.hpp>

namespace baton::process_group {

/// Contiguous elements, in any memory. A caller that only reads them says so by what it calls.
struct Elements {
  void* address = nullptr;
  std::size_t count = 0;
  Element element = Element::uint8;
};

/// What went wrong, in the words of Baton: the text of a baton::Error.
class BATON_API Failure : public std::runtime_error {
 public:
  enum class Kind { wrong_use, timeout, other };
  Failure(const char* text, Kind kind) : std::runtime_error(text), kind_(kind) {}
  [[nodiscard]] Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

/// A message under way.
struct Message;
using MessageHandle = std::shared_ptr<Message>;

/// One rank's membership in a group: a job of its own. The calls are those of <baton/collectives.hpp>, one at a time;
/// all throw Failure. The end of the object leaves the group.
class BATON_API Group {
 public:
  using Timeout = std::chrono::milliseconds;

  /// Blocks until all ranks have come to `rendezvous`.
  Group(const char* rendezvous, int rank, int size);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group();

  void barrier(Timeout timeout);
  void broadcast(Elements x, int root, Timeout timeout);
  void reduce(Elements x, int root, ReduceOp op, Timeout timeout);
  void allreduce(Elements x, ReduceOp op, Timeout timeout);
  void reduce_scatter(Elements in, Elements out, ReduceOp op, Timeout timeout);
  void allgather(Elements in, Elements out, Timeout timeout);
  void gather(Elements in, Elements out, int root, Timeout timeout);
  void scatter(Elements in, Elements out, int root, Timeout timeout);
  /// With a block of each rank, which may lie anywhere; empty on ranks that are not the root.
  void allgather(Elements in, std::span<const Elements> out, Timeout timeout);
  void gather(Elements in, std::span<const Elements> out, int root, Timeout timeout);
  void scatter(std::span<const Elements> in, Elements out, int root, Timeout timeout);
  void all_to_all(Elements in, Elements out, Timeout timeout);
  void all_to_all_v(Elements in, std::span<const std::size_t> send_counts, Elements out,
                    std::span<const std::size_t> receive_counts, Timeout timeout);

  /// Messages; they need no order with the calls above, and several may be under way. The data stays where it is until
  /// the message has ended, which `owner` takes care of. Messages with the same rank and tag keep their order.
  static constexpr int kAnyRank = -1;
  [[nodiscard]] MessageHandle send(int to, int tag, Elements data, std::shared_ptr<void> owner);
  [[nodiscard]] MessageHandle receive(int from, int tag, Elements data, std::shared_ptr<void> owner);
  [[nodiscard]] bool test(const MessageHandle& message);
  /// False if it has not ended by then; it goes on. Throws what it failed with.
  [[nodiscard]] bool wait(const MessageHandle& message, Timeout timeout);
  /// Calls `at_end` once, perhaps at once, when it has ended; from then on something moves it whatever the program
  /// does.
  void when_ended(const MessageHandle& message, std::function<void()> at_end);
  /// Of a message that has ended.
  [[nodiscard]] static int peer_of(const MessageHandle& message);

  /// Leaves: every later call throws. Not during a call.
  void leave() noexcept;

  /// Leaves at once: the waits of the other ranks end with an error that shows `reason`, and so does every later call
  /// of this one. From any thread.
  void abort(const char* reason) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace baton::process_group
