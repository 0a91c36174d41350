// The paths of one rank to the ranks of other hosts: active messages of UCX.
//
// A put with its signal is one message; the receiver checks where it wants to go, copies, changes the signal and wakes
// who waits. UCX moves payloads of more than 1 MiB by its rendezvous protocol straight into the window. Messages of a
// rank are dealt with one after the other: what comes while a large payload is on its way waits for it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/function_ref.hpp"
#include "base/parking.hpp"
#include "comm/backends/ucx/alarm.hpp"
#include "comm/backends/ucx/peer_record.hpp"
#include "comm/backends/ucx/turns.hpp"
#include "comm/backends/ucx/ucx_worker.hpp"
#include "comm/delivery.hpp"
#include "comm/path.hpp"

namespace baton::ucx {

struct PathPlace {
  wire::ControlHeader& control;
  std::uint32_t rank;
  FutexScope scope;
  std::vector<std::uint32_t> host_of;  // by rank
};

class UcxPath final : public comm::Path {
 public:
  /// `worker` is made; `peers` are the records of all ranks.
  UcxPath(std::unique_ptr<UcxWorker> worker, PathPlace place, std::vector<PeerRecord> peers);
  /// Nothing is waited for but UCX itself.
  ~UcxPath() override;

  void put(const comm::FarPlace& to, const void* source, std::size_t bytes, const comm::FarSignal& signal,
           const Deadline& deadline) override;
  void add(const comm::FarPlace& to, Element element, const void* addends, std::size_t bytes,
           const Deadline& deadline) override;
  void scatter(const comm::FarPlace& to, const comm::FarPieces& pieces, const Deadline& deadline) override;
  void get(const comm::FarPlace& from, void* target, std::size_t bytes, const Deadline& deadline) override;
  [[nodiscard]] std::unique_ptr<Transfer> start_put(const comm::FarPlace& to, const void* source, std::size_t bytes,
                                                    const comm::FarSignal& signal, const Deadline& deadline) override;
  [[nodiscard]] std::unique_ptr<Transfer> start_get(const comm::FarPlace& from, void* target, std::size_t bytes,
                                                    const Deadline& deadline) override;
  void finish(Transfer& transfer) override;
  void post(std::uint32_t rank, wire::AllocationKey topic, std::span<const std::byte> bytes) override;
  [[nodiscard]] bool flush(comm::Flushed what, const Deadline& deadline) override;
  void progress() noexcept override;
  void begin_looking() noexcept override;
  void end_looking() noexcept override;
  [[nodiscard]] std::string trouble_with(std::uint32_t rank) const override;
  [[nodiscard]] std::uint32_t host_of(std::uint32_t rank) const noexcept override { return place_.host_of[rank]; }
  [[nodiscard]] comm::Delivery& delivery() noexcept override { return delivery_; }

  /// For a thread with nothing else to do: what wakes it.
  [[nodiscard]] Alarm& alarm() noexcept { return alarm_; }
  /// Its turn after `cause` woke it: deals with what has come, unless others do. How long it may sleep then.
  [[nodiscard]] std::chrono::milliseconds take_turn(Alarm::Cause cause) noexcept;

 private:
  class Message;
  class Put;
  class Get;

  static constexpr unsigned kMessageNumber = 1;
  /// UCX gives memory back soon after a connection was closed by force.
  static constexpr std::chrono::seconds kReturnTime{5};
  /// What is under way arrives soon, whatever its rank does, unless that is stopped or cut off.
  static constexpr std::chrono::seconds kArrivalTime{2};
  /// A connection ends when the rank at its other end does, and the news of that may come later than the end of the
  /// connection.
  static constexpr std::chrono::seconds kNewsTime{3};

  /// A message on its way out. Others wait for it, or it is its own and ends with its completion.
  struct Sending {
    wire::PathHeader header{};
    std::atomic<bool> done{false};
    ucs_status_t status = UCS_OK;
    UcxPath* path = nullptr;
    bool is_its_own = false;
    const void* payload = nullptr;
    std::shared_ptr<comm::SharedMemory> memory;  // what keeps the payload of its own, or
    std::vector<std::byte> copy;
  };
  /// A get that waits for its reply.
  struct Getting {
    std::byte* target = nullptr;
    std::uint64_t bytes = 0;
    std::atomic<bool> done{false};
    bool arrives = false;  // the reply is being received
    bool refused = false;
  };
  /// A message that waits for its turn.
  struct Held {
    wire::PathHeader header{};
    std::vector<std::byte> payload;
    void* descriptor = nullptr;  // of a large payload, which is still at its sender
  };
  /// A large payload on its way in.
  struct Receiving {
    UcxPath* path = nullptr;
    wire::PathHeader header{};
    std::shared_ptr<comm::SharedMemory> memory;
    std::shared_ptr<Getting> getting;
    std::vector<std::byte> buffer;
  };
  struct Peer {
    UcxPath* path = nullptr;
    PeerRecord record;
    ucp_ep_h endpoint = nullptr;
    ucp_ep_h spare = nullptr;    // what it was before the connection that the peer made took its place
    ucp_ep_h offered = nullptr;  // by the peer: accepted_ has it
    bool has_offered = false;    // this rank to the peer
    std::atomic<bool> failed{false};
    ucs_status_t failure = UCS_OK;
    std::uint64_t sent = 0;
    Deadline::Clock::time_point asked_at{};    // when the first was sent
    std::uint64_t last_put = 0;                // its number
    std::deque<std::uint64_t> posts;           // numbers of those that it has not dealt with
    std::atomic<std::uint64_t> done_there{0};  // how many of this rank's messages it has dealt with; 0: not connected
    std::deque<Sending*> unsent;               // until it has answered
    std::uint64_t received = 0;
    std::uint64_t done_here = 0;
    std::uint64_t told_done = 0;    // of those, to the peer
    std::uint64_t owed = 0;         // it wants to hear that this many were done
    std::uint64_t owed_before = 0;  // the same in the last turn of the thread
    bool is_listed = false;         // in debts_
    bool receives = false;          // a large payload
    std::deque<Held> held;
    std::vector<Held> early;  // one after the other; before them messages of the other connection are missing
  };

  /// A connection that another rank has made, to send. Its own goes the other way.
  struct Accepted {
    ucp_ep_h endpoint = nullptr;
    bool failed = false;
  };

  [[nodiscard]] wire::PathHeader header_for(wire::PathKind kind, std::uint32_t rank) const noexcept;
  [[nodiscard]] wire::PathHeader put_header(const comm::FarPlace& to, std::size_t bytes,
                                            const comm::FarSignal& signal) const noexcept;
  [[nodiscard]] std::string describe(std::uint32_t rank) const;
  [[nodiscard]] bool is_gone(std::uint32_t rank) const noexcept;
  /// Whether nothing comes from this rank any more: it is gone, or the connection to it broke.
  [[nodiscard]] bool is_lost(std::uint32_t rank) const noexcept;
  /// Whether no post of this host is on its way. Sequentially consistent, as a test before a sleep must be.
  [[nodiscard]] bool posts_are_done() const noexcept;
  void ring() noexcept;

  /// Under the lock. A post of a rank was dealt with, which its host wants to hear. Each message to it tells; the
  /// thread of the path does where none has gone for a turn. So nobody else has to think of it: a message comes either
  /// while the thread rests, or wakes it.
  void owe(std::uint32_t rank);
  /// Whether there was one.
  bool pay_old_debts();
  void tell_done(std::uint32_t rank);

  /// Under the lock. False if the message cannot be sent: the peer has failed or is gone.
  bool start(std::uint32_t rank, Sending& sending);
  /// For those who look whether anything goes on (comm/hosts_stillness.hpp). Under the lock; before a message is sent.
  static void count(std::atomic<std::uint64_t>& counter, std::int64_t messages) noexcept;
  void count_sent(std::int64_t messages) noexcept;
  [[nodiscard]] bool connect(Peer& peer, std::uint32_t rank);
  /// Sends now, or once the peer has answered what is said to it first: until a connection is made UCX may let messages
  /// overtake each other. Else as start().
  bool start_or_keep(std::uint32_t rank, Sending& sending);
  /// The same for what is nobody's.
  bool start_own(std::uint32_t rank, std::unique_ptr<Sending> sending);
  [[nodiscard]] bool is_known(const Peer& peer) const noexcept {
    return peer.done_there.load(std::memory_order_relaxed) != 0;
  }
  /// From now on the connection that the peer has made and offered. With one for both directions TCP acknowledges by
  /// what is said anyway. What is on its way on this rank's own may arrive later: the peer waits for it.
  void share_connection(Peer& peer) noexcept;
  void note_offer(Peer& peer, ucp_ep_h endpoint) noexcept;
  /// Connects and asks for an answer, unless that was done.
  bool ask(std::uint32_t rank);
  void send_unsent() noexcept;
  /// Posts up to this number need no waiting for any more.
  void count_posts_done(Peer& peer, std::uint64_t up_to) noexcept;
  void note_posts_done(std::uint64_t done) noexcept;
  void drop_unsent(Sending& sending) noexcept;
  /// Only of a peer that has answered once: UCX crashes when it closes a connection that is being made.
  void disconnect(Peer& peer) noexcept;
  void disconnect_gone() noexcept;
  void close(ucp_ep_h endpoint) noexcept;
  void close_failed() noexcept;
  /// One round of everything; whether anything was done.
  bool work() noexcept;
  /// Rounds until there is nothing to do; false if that has no end.
  bool work_off() noexcept;
  /// The same, and then the alarm tells of what comes next.
  bool settle() noexcept;

  /// Waits for the first answer of a peer. False if the rank has left.
  bool make_acquaintance(std::uint32_t rank, const char* what, const Deadline& deadline);
  /// Sends and waits until the payload may change. False if the rank has left: nobody will see it.
  bool send(std::uint32_t rank, Sending& sending, const char* what, const Deadline& deadline);
  /// The path to a rank broke, or it is gone: throws, or returns if it has left. Waits for the news until then.
  void settle_loss(std::uint32_t rank, const char* what, const Deadline& news = Deadline::within(kNewsTime));
  [[noreturn]] void throw_timeout(std::uint32_t rank, const char* what, std::size_t bytes) const;
  /// Until it is over, for as long as the path is there and it does not take too long.
  void let_end(std::uint32_t rank, FunctionRef<bool()> is_over) noexcept;
  /// Until UCX does not touch what `is_over` tells of any more. Gives the path up.
  void abandon(std::uint32_t rank, FunctionRef<bool()> is_over) noexcept;

  // Incoming: ucx_receive.cpp, ucx_connect.cpp. All under the lock.
  static ucs_status_t on_message(void* path, const void* header, std::size_t header_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* param);
  static void on_sent(void* request, ucs_status_t status, void* sending);
  static void on_received(void* request, ucs_status_t status, std::size_t bytes, void* receiving);
  static void on_failure(void* peer, ucp_ep_h endpoint, ucs_status_t status);
  static void on_connection(ucp_conn_request_h request, void* path);
  static void on_accepted_failure(void* path, ucp_ep_h endpoint, ucs_status_t status);
  ucs_status_t take(const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                    const ucp_am_recv_param_t& param);
  /// Whether it came over the connection that this rank has offered, before some of the other one.
  [[nodiscard]] static bool is_early(const Peer& peer, std::uint64_t sequence) noexcept;
  /// It is their turn, if nothing is missing any more.
  void take_early(Peer& peer);
  void hold(Peer& peer, Held held);
  /// Does what messages that waited for their turn want; whether there was one.
  bool deal_with_held();
  /// The payload is here.
  void deal_with(const wire::PathHeader& header, std::span<const std::byte> payload);
  /// The payload is still at its sender.
  void fetch(Peer& peer, const Held& held);
  void finish(const wire::PathHeader& header, std::span<const std::byte> payload, bool arrived);
  void answer_get(const wire::PathHeader& header);
  void refuse(const wire::PathHeader& header, const char* why);

  const UcxLibrary& ucx_;
  std::unique_ptr<UcxWorker> worker_;
  Introduction introduction_;
  PathPlace place_;
  ParkingPlace parking_;
  comm::Delivery delivery_;
  wire::PathReceiver receiver_;

  Alarm alarm_;
  mutable std::mutex mutex_;
  BasicTurns<MachineRules> turns_;  // under mutex_, but for what needs no order
  // Guarded by mutex_, but for the atomics in them.
  std::vector<Peer> peers_;
  std::vector<std::uint32_t> waiting_;      // peers that have held messages
  std::vector<std::uint32_t> met_;          // peers that have just answered for the first time
  std::vector<std::uint32_t> debts_;        // peers that are owed, or were
  std::atomic<bool> has_debts_{false};      // the thread looks at it without the lock, now and then
  std::atomic<bool> debts_are_due_{false};  // it asks the holder of the lock to pay them
  std::vector<std::pair<std::uint32_t, std::unique_ptr<Sending>>> outbox_;
  std::list<std::unique_ptr<Sending>> own_;  // on their way
  std::list<Accepted> accepted_;
  bool accepted_failed_ = false;
  std::vector<ucs_status_ptr_t> closing_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Getting>> gets_;
  std::uint64_t next_get_ = 1;
  std::uint32_t changes_seen_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace baton::ucx
