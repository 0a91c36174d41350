#include "job/agent_rendezvous.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/fail.hpp"
#include "base/service_thread.hpp"
#include "base/unique_fd.hpp"
#include "comm/backends/shm/unix_address.hpp"
#include "job/rank_messages.hpp"

namespace baton::job {
namespace {

/// A connection to the agent. Any number of senders, one receiver.
class AgentSocket {
 public:
  explicit AgentSocket(UniqueFd socket) noexcept : socket_(std::move(socket)) {}

  /// False if the agent is gone.
  bool send(std::string_view frame) {
    const std::lock_guard lock(sending_);
    while (!frame.empty()) {
      const ssize_t count = ::send(socket_.get(), frame.data(), frame.size(), MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return false;
      frame.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  /// Waits for the next frame. Nothing at the deadline, or when the connection is over.
  std::optional<FrameReader> receive(const Deadline& deadline) {
    for (;;) {
      if (auto frame = assembler_.next()) return frame;
      pollfd ready{.fd = socket_.get(), .events = POLLIN, .revents = 0};
      const int count = ::poll(&ready, 1, deadline.poll_timeout_ms());
      if (count == 0 && deadline.passed()) return std::nullopt;
      if (count <= 0) continue;
      std::array<char, std::size_t{16} * 1024> bytes;
      const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return std::nullopt;
      assembler_.add({bytes.data(), static_cast<std::size_t>(got)});
    }
  }

  /// Ends receive() and refuses send().
  void shut_down() noexcept { ::shutdown(socket_.get(), SHUT_RDWR); }

 private:
  UniqueFd socket_;
  std::mutex sending_;
  FrameAssembler assembler_;
};

class AgentRendezvous final : public comm::Rendezvous {
 public:
  AgentRendezvous(UniqueFd connection, const Join& join, const Deadline& deadline,
                  const std::function<void(const Reachable&)>& on_reachable)
      : socket_(std::move(connection)), rank_(join.rank) {
    socket_.send(encode(join));
    auto answer = receive_answer(deadline);
    if (answer.kind() == FrameKind::reachable) {
      if (on_reachable) on_reachable(decode_reachable(answer));
      answer = receive_answer(deadline);
    }
    if (answer.kind() == FrameKind::failed) throw Error(decode_failure(answer).error);
    if (answer.kind() != FrameKind::welcome) fail(Code::protocol, "the agent of this host answers with nonsense");
    welcome_ = decode_welcome(answer);
    if (rank_ >= size()) fail(Code::protocol, "rank {} is not one of {}", rank_, size());
    ends_.resize(size());
    receiver_ = start_service_thread("baton-meeting", [this] { receive_all(); });
  }

  ~AgentRendezvous() override {
    {
      const std::lock_guard lock(mutex_);
      is_leaving_ = true;
    }
    socket_.shut_down();
    receiver_.join();
  }

  [[nodiscard]] const std::string& job() const noexcept override { return welcome_.job; }
  [[nodiscard]] std::uint32_t rank() const noexcept override { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept override {
    return static_cast<std::uint32_t>(welcome_.host_of.size());
  }
  [[nodiscard]] std::uint32_t host_count() const noexcept override {
    return static_cast<std::uint32_t>(welcome_.hosts.size());
  }
  [[nodiscard]] std::uint32_t host_of(std::uint32_t rank) const noexcept override { return welcome_.host_of[rank]; }
  [[nodiscard]] const std::string& host_name(std::uint32_t host) const noexcept override {
    return welcome_.hosts[host];
  }
  [[nodiscard]] const std::string& address() const noexcept override { return welcome_.address; }

  [[nodiscard]] std::vector<comm::RankRecord> exchange(std::span<const std::byte> record,
                                                       const Deadline& deadline) override {
    const std::uint64_t sequence = next_exchange_++;
    std::string_view rest(reinterpret_cast<const char*>(record.data()), record.size());
    bool last = false;
    while (!last) {
      const std::string_view part = rest.substr(0, kRecordPartBytes);
      rest.remove_prefix(part.size());
      last = rest.empty();
      socket_.send(encode(RecordPart{.sequence = sequence, .rank = rank_, .last = last, .bytes = part}));
    }
    std::unique_lock lock(mutex_);
    Exchange& mine = exchange_of(sequence);
    while (mine.complete < size()) {
      throw_if_hopeless(mine);
      // Pairs with the notify_all() of the receiver, under the same mutex.
      if (changed_.wait_until(lock, deadline.when()) == std::cv_status::timeout && mine.complete < size()) {
        throw_if_hopeless(mine);
        fail(Code::join_timeout, "rank {} waited for {}", rank_, describe_missing(mine));
      }
    }
    std::vector<comm::RankRecord> records = std::move(mine.records);
    exchanges_.erase(sequence);
    return records;
  }

  void on_end(std::function<void(const comm::RankEnd&)> told) override {
    const std::lock_guard telling(telling_);
    const std::lock_guard lock(mutex_);
    told_ = std::move(told);
    for (const auto& end : ends_) {
      if (end && end->rank != rank_) told_(*end);
    }
  }

  void report_end(const comm::RankEnd& end) noexcept override {
    try {
      socket_.send(encode(end));
    } catch (const std::exception&) {
      // Without memory for a frame: the closed connection tells that this rank died.
    }
  }

 private:
  struct Exchange {
    std::vector<comm::RankRecord> records;
    std::vector<bool> is_complete;
    std::uint32_t complete = 0;
  };

  FrameReader receive_answer(const Deadline& deadline) {
    auto answer = socket_.receive(deadline);
    if (answer) return *answer;
    if (deadline.passed()) fail(Code::join_timeout, "the agent of this host does not answer rank {}", rank_);
    fail(Code::peer_died, "the agent of this host is gone");
  }

  Exchange& exchange_of(std::uint64_t sequence) {
    Exchange& one = exchanges_[sequence];
    if (one.records.empty()) {
      one.records.resize(size());
      one.is_complete.resize(size());
    }
    return one;
  }

  std::string describe_missing(const Exchange& exchange) const {
    std::string missing;
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
      if (exchange.is_complete[rank]) continue;
      missing += fmt::format("{}rank {} on host {}", missing.empty() ? "" : ", ", rank, host_name(host_of(rank)));
    }
    return missing;
  }

  void throw_if_hopeless(const Exchange& exchange) const {
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
      if (exchange.is_complete[rank] || !ends_[rank]) continue;
      const comm::RankEnd& end = *ends_[rank];
      const bool left = end.state == wire::RankState::left;
      throw Error(left ? Code::peer_left : Code::peer_died,
                  fmt::format("rank {} on host {} {} before the ranks had met", rank, host_name(host_of(rank)),
                              left ? "left" : "died"),
                  end.reason.empty() ? std::vector<std::string>() : std::vector<std::string>{end.reason});
    }
    if (agent_is_gone_) fail(Code::peer_died, "the agent of this host is gone");
  }

  void receive_all() {
    try {
      while (auto frame = socket_.receive(Deadline::never())) {
        if (frame->kind() == FrameKind::record) {
          take_record(decode_record(*frame));
        } else if (frame->kind() == FrameKind::rank_end) {
          take_end(decode_rank_end(*frame));
        }
      }
    } catch (const Error&) {
      // Nonsense from the agent: as good as none.
    }
    {
      const std::lock_guard lock(mutex_);
      agent_is_gone_ = true;
      changed_.notify_all();
      if (is_leaving_) return;
    }
    // Nobody is left to tell what becomes of them, and the others hear as much of this host.
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
      if (host_of(rank) == host_of(rank_)) continue;
      take_end({.rank = rank,
                .state = wire::RankState::dead,
                .kind = wire::EndKind::unknown,
                .value = 0,
                .reason = "the agent of this host is gone"});
    }
  }

  void take_record(const RecordPart& part) {
    if (part.rank >= size()) fail(Code::protocol, "a record of rank {} came", part.rank);
    const std::lock_guard lock(mutex_);
    Exchange& one = exchange_of(part.sequence);
    if (one.is_complete[part.rank]) fail(Code::protocol, "rank {} sent two records", part.rank);
    const auto* bytes = reinterpret_cast<const std::byte*>(part.bytes.data());
    one.records[part.rank].insert(one.records[part.rank].end(), bytes, bytes + part.bytes.size());
    if (!part.last) return;
    one.is_complete[part.rank] = true;
    ++one.complete;
    changed_.notify_all();
  }

  void take_end(const comm::RankEnd& end) {
    if (end.rank >= size()) fail(Code::protocol, "the end of rank {} came", end.rank);
    const std::lock_guard telling(telling_);
    std::function<void(const comm::RankEnd&)> told;
    {
      const std::lock_guard lock(mutex_);
      if (ends_[end.rank]) return;
      ends_[end.rank] = end;
      changed_.notify_all();
      told = told_;
    }
    if (told && end.rank != rank_) told(end);
  }

  AgentSocket socket_;
  std::uint32_t rank_;
  Welcome welcome_;
  std::uint64_t next_exchange_ = 0;  // of the thread that exchanges

  std::mutex telling_;  // one call of told_ at a time; locked before mutex_
  std::mutex mutex_;    // guards what follows
  std::condition_variable changed_;
  std::map<std::uint64_t, Exchange> exchanges_;
  std::vector<std::optional<comm::RankEnd>> ends_;  // by rank
  std::function<void(const comm::RankEnd&)> told_;
  bool agent_is_gone_ = false;
  bool is_leaving_ = false;

  std::thread receiver_;
};

}  // namespace

std::unique_ptr<comm::Rendezvous> join_through_agent(const std::string& address, std::uint32_t rank,
                                                     const Deadline& deadline) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const shm::UnixAddress where(address);
  if (!socket || ::connect(socket.get(), where.get(), where.length()) != 0) {
    fail(Code::peer_died, "the agent of this host, at {}, cannot be reached: {}", address, ::strerrordesc_np(errno));
  }
  return join_through_agent(std::move(socket), Join{.rank = rank, .size = 0}, deadline, {});
}

std::unique_ptr<comm::Rendezvous> join_through_agent(UniqueFd connection, const Join& join, const Deadline& deadline,
                                                     const std::function<void(const Reachable&)>& on_reachable) {
  return std::make_unique<AgentRendezvous>(std::move(connection), join, deadline, on_reachable);
}

}  // namespace baton::job
