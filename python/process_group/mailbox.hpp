// Messages between two ranks: of any size, told apart by tags, received from a rank or from any.
//
// Each rank has, in its part of a window, a ring of slots for the packets of each other rank. A small message is one
// packet, and its send ends when it lies there. A large one is offered, and comes in pieces when the receiver has room
// for it: its own, so nothing is kept twice. What small ones that nobody has asked for yet may occupy is limited;
// beyond that they are offered, too.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <baton/collective_types.hpp>
#include <baton/domain.hpp>

#include "mailbox_layout.hpp"

namespace baton::process_group {

/// What is sent or received. Shared by who asked for it and the mailbox, which changes it under its mutex.
struct Message {
  enum class Direction : std::uint8_t { send, receive };

  Direction direction = Direction::send;
  /// The other rank; of a receive Mailbox::kAnyRank until it is known.
  int peer = 0;
  int tag = 0;
  Element element = Element::uint8;
  std::byte* data = nullptr;
  std::uint64_t bytes = 0;
  /// Keeps the data.
  std::shared_ptr<void> owner;

  std::uint64_t moved = 0;
  bool ended = false;
  std::exception_ptr failure;
  std::function<void()> at_end;
};

class Mailbox {
 public:
  using Clock = std::chrono::steady_clock;
  using Handle = std::shared_ptr<Message>;
  static constexpr int kAnyRank = -1;

  /// Collective: allocates the window.
  explicit Mailbox(Domain me);
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  /// Forgets what has not ended.
  ~Mailbox();

  /// Both return at once; messages with the same peer and tag keep their order.
  [[nodiscard]] Handle send(int to, int tag, const void* data, std::uint64_t bytes, Element element,
                            std::shared_ptr<void> owner = nullptr);
  [[nodiscard]] Handle receive(int from, int tag, void* data, std::uint64_t bytes, Element element,
                               std::shared_ptr<void> owner = nullptr);

  /// Whether it has ended; goes on with what can be done without waiting.
  [[nodiscard]] bool test(const Handle& message);
  /// False at the deadline: the message goes on. Throws what it failed with.
  [[nodiscard]] bool wait_until(const Handle& message, Clock::time_point deadline);
  /// Calls `at_end` when it has ended, perhaps at once, without a lock held.
  void when_ended(const Handle& message, std::function<void()> at_end);

 private:
  /// A message that has arrived, or is offered, and nobody has asked for.
  struct Unclaimed {
    int from;
    PacketHeader header;
    std::vector<std::byte> content;
  };
  /// What goes to one rank.
  struct Outgoing {
    std::deque<PacketHeader> answers;
    std::deque<Handle> announced_next;
    std::map<std::uint64_t, Handle> offered;
    std::deque<std::pair<std::uint64_t, Handle>> in_pieces;
    std::uint64_t packets = 0;
    std::uint64_t small_bytes = 0;
    std::uint64_t next_id = 1;
  };
  /// What comes from one rank.
  struct Incoming {
    std::map<std::uint64_t, Handle> in_pieces;
    std::uint64_t packets = 0;
    std::uint64_t small_bytes = 0;
  };
  using Lock = std::unique_lock<std::mutex>;

  [[nodiscard]] std::atomic_ref<std::uint64_t> word(int rank, std::size_t offset) const;
  /// Takes and puts all packets that can be. Whether there were any.
  bool move_packets();
  [[nodiscard]] bool take_packets(int from);
  void take_packet(int from, const PacketHeader& header, const std::byte* content);
  [[nodiscard]] bool put_packets(int to);
  [[nodiscard]] bool put_next(int to, Outgoing& out);
  void put_packet(int to, Outgoing& out, const PacketHeader& header, const std::byte* content);

  /// Gives what has come to the receive that asked for it.
  void deliver(const Handle& message, int from, const PacketHeader& header, const std::byte* content);
  [[nodiscard]] Handle claim(int from, int tag);
  void end(const Handle& message, std::exception_ptr failure = nullptr);
  void fail_all(const std::exception_ptr& failure);
  void fail_those_with(int peer, const std::exception_ptr& failure);

  [[nodiscard]] bool needs_thread(const Message& message) const;
  void attend(const Handle& message);
  /// Moves packets and waits for more until `done`; one thread at a time does.
  template <class Done>
  void drive(Lock& lock, Done done, Clock::time_point deadline);
  void rest(Lock& lock, std::int32_t seen, Clock::time_point until);
  void look_for_departures();
  [[nodiscard]] std::vector<int> awaited_peers() const;
  void serve();
  void call_back(Lock& lock);

  Domain me_;
  MailboxLayout layout_;
  RawWindow window_;

  std::mutex mutex_;
  std::condition_variable changed_;  // of those who wait: a message has ended, or nobody drives
  std::condition_variable work_;     // of the thread
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::list<Unclaimed> unclaimed_;
  std::list<Handle> asked_;  // receives without a message, in order
  std::vector<std::function<void()>> to_call_;
  std::exception_ptr failure_;
  bool driven_ = false;
  bool stopped_ = false;
  std::vector<std::weak_ptr<Message>> attended_;  // by the thread
  std::thread thread_;
};

}  // namespace baton::process_group
