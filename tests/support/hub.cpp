#include "support/hub.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "base/fail.hpp"

namespace baton::test {
namespace {

using comm::RankEnd;
using comm::RankRecord;

enum class Kind : std::uint32_t { hello, record, records, end };

/// One datagram: this, then `bytes`.
struct Head {
  Kind kind;
  std::uint32_t rank;
  std::uint32_t size;
  std::uint32_t state;
  std::uint32_t end_kind;
  std::uint32_t value;
};

std::vector<std::byte> message(const Head& head, std::span<const std::byte> bytes = {}) {
  std::vector<std::byte> out(sizeof head + bytes.size());
  std::memcpy(out.data(), &head, sizeof head);
  if (!bytes.empty()) std::memcpy(out.data() + sizeof head, bytes.data(), bytes.size());
  return out;
}

std::vector<std::byte> message_of(const RankEnd& end) {
  return message(
      {Kind::end, end.rank, 0, static_cast<std::uint32_t>(end.state), static_cast<std::uint32_t>(end.kind), end.value},
      std::as_bytes(std::span(end.reason)));
}

void say(int fd, const std::vector<std::byte>& bytes) noexcept {
  static_cast<void>(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

/// Nothing at the end of the connection.
std::optional<std::vector<std::byte>> hear(int fd) {
  std::vector<std::byte> bytes(1024 * 1024);
  const ssize_t length = ::recv(fd, bytes.data(), bytes.size(), 0);
  if (length < static_cast<ssize_t>(sizeof(Head))) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(length));
  return bytes;
}

Head head_of(const std::vector<std::byte>& bytes) {
  Head head{};
  std::memcpy(&head, bytes.data(), sizeof head);
  return head;
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

UniqueFd make_socket() {
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd) fail_system("socket");
  const int room = 1024 * 1024;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  return fd;
}

}  // namespace

struct Hub::Guest {
  UniqueFd connection;
  Job* job = nullptr;
  std::uint32_t rank = 0;
};

struct Hub::Job {
  std::vector<Guest*> guests;
  std::vector<std::optional<RankRecord>> records;
  std::vector<std::optional<std::vector<std::byte>>> ends;
};

Hub::Hub()
    : path_(fmt::format("/tmp/baton-hub-{}-{}", ::getpid(), reinterpret_cast<std::uintptr_t>(this) >> 4U)),
      listener_(make_socket()),
      poke_(::eventfd(0, EFD_CLOEXEC)) {
  const sockaddr_un address = address_of(path_);
  ::unlink(path_.c_str());
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail_system("bind");
  if (::listen(listener_.get(), 256) != 0) fail_system("listen");
  thread_ = std::thread([this] { run(); });
}

Hub::~Hub() {
  stop_.store(true);
  const std::uint64_t one = 1;
  static_cast<void>(!::write(poke_.get(), &one, sizeof one));
  thread_.join();
  ::unlink(path_.c_str());
}

void Hub::run() {
  while (!stop_.load()) {
    std::vector<pollfd> events{{poke_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const auto& guest : guests_) events.push_back({guest->connection.get(), POLLIN, 0});
    static_cast<void>(::poll(events.data(), events.size(), -1));
    std::vector<Guest*> gone;
    for (std::size_t i = 2; i < events.size(); ++i) {
      if (events[i].revents != 0 && !serve(*guests_[i - 2])) gone.push_back(guests_[i - 2].get());
    }
    for (Guest* guest : gone) {
      if (guest->job != nullptr) {
        guest->job->guests[guest->rank] = nullptr;
        if (!guest->job->ends[guest->rank]) {
          RankEnd end;
          end.rank = guest->rank;
          tell_end(*guest->job, message_of(end), guest->rank);
        }
      }
      std::erase_if(guests_, [&](const auto& one) { return one.get() == guest; });
    }
    if (events[1].revents != 0) admit();
  }
}

void Hub::admit() {
  UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection) return;
  const int room = 1024 * 1024;
  ::setsockopt(connection.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  guests_.push_back(std::make_unique<Guest>());
  guests_.back()->connection = std::move(connection);
}

void Hub::tell_end(Job& job, const std::vector<std::byte>& end, std::uint32_t ended) {
  job.ends[ended] = end;
  for (const Guest* guest : job.guests) {
    if (guest != nullptr && guest->rank != ended) say(guest->connection.get(), end);
  }
}

bool Hub::serve(Guest& guest) {
  const auto bytes = hear(guest.connection.get());
  if (!bytes) return false;
  const Head head = head_of(*bytes);
  const std::span<const std::byte> rest = std::span(*bytes).subspan(sizeof head);
  if (head.kind == Kind::hello) {
    Job& job = jobs_[std::string(reinterpret_cast<const char*>(rest.data()), rest.size())];
    job.guests.resize(head.size);
    job.records.resize(head.size);
    job.ends.resize(head.size);
    guest.job = &job;
    guest.rank = head.rank;
    job.guests[head.rank] = &guest;
    for (const auto& end : job.ends) {
      if (end) say(guest.connection.get(), *end);
    }
    return true;
  }
  Job& job = *guest.job;
  if (head.kind == Kind::end) {
    tell_end(job, *bytes, head.rank);
    return true;
  }
  job.records[guest.rank] = RankRecord(rest.begin(), rest.end());
  std::vector<std::byte> all;
  for (const auto& record : job.records) {
    if (!record) return true;
    const auto length = static_cast<std::uint32_t>(record->size());
    const auto length_bytes = std::as_bytes(std::span(&length, 1));
    all.insert(all.end(), length_bytes.begin(), length_bytes.end());
    all.insert(all.end(), record->begin(), record->end());
  }
  for (auto& record : job.records) record.reset();
  for (const Guest* other : job.guests) {
    if (other != nullptr) say(other->connection.get(), message({Kind::records, 0, 0, 0, 0, 0}, all));
  }
  return true;
}

namespace {

class HubRendezvous final : public comm::Rendezvous {
 public:
  explicit HubRendezvous(HubPlace place) : place_(std::move(place)), connection_(make_socket()) {
    const std::uint32_t hosts = 1 + *std::max_element(place_.host_of.begin(), place_.host_of.end());
    for (std::uint32_t host = 0; host < hosts; ++host) names_.emplace_back(1, static_cast<char>('a' + host));
    const sockaddr_un address = address_of(place_.hub);
    if (::connect(connection_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      fail_system("connecting to the hub of the test");
    say(connection_.get(), message({Kind::hello, place_.rank, size(), 0, 0, 0}, std::as_bytes(std::span(place_.job))));
    thread_ = std::thread([this] { listen(); });
  }
  HubRendezvous(const HubRendezvous&) = delete;
  HubRendezvous& operator=(const HubRendezvous&) = delete;
  ~HubRendezvous() override {
    ::shutdown(connection_.get(), SHUT_RDWR);
    thread_.join();
  }

  [[nodiscard]] const std::string& job() const noexcept override { return place_.job; }
  [[nodiscard]] std::uint32_t rank() const noexcept override { return place_.rank; }
  [[nodiscard]] std::uint32_t size() const noexcept override {
    return static_cast<std::uint32_t>(place_.host_of.size());
  }
  [[nodiscard]] std::uint32_t host_count() const noexcept override { return static_cast<std::uint32_t>(names_.size()); }
  [[nodiscard]] std::uint32_t host_of(std::uint32_t rank) const noexcept override { return place_.host_of[rank]; }
  [[nodiscard]] const std::string& host_name(std::uint32_t host) const noexcept override { return names_[host]; }
  [[nodiscard]] const std::string& address() const noexcept override { return place_.address; }

  [[nodiscard]] std::vector<RankRecord> exchange(std::span<const std::byte> record, const Deadline& deadline) override {
    say(connection_.get(), message({Kind::record, rank(), 0, 0, 0, 0}, record));
    std::unique_lock lock(mutex_);
    const auto over = [&] { return records_.has_value() || dead_.has_value(); };
    if (!changed_.wait_until(lock, deadline.when(), over)) fail(Code::join_timeout, "not all ranks came to the hub");
    if (!records_) fail(Code::peer_died, "rank {} ended while the job came together", *dead_);
    std::vector<RankRecord> out = std::move(*records_);
    records_.reset();
    return out;
  }

  void on_end(std::function<void(const RankEnd&)> told) override {
    const std::lock_guard lock(mutex_);
    told_ = std::move(told);
    for (const RankEnd& end : ends_) told_(end);
  }

  void report_end(const RankEnd& end) noexcept override { say(connection_.get(), message_of(end)); }

 private:
  void listen() {
    while (const auto bytes = hear(connection_.get())) {
      const Head head = head_of(*bytes);
      const std::lock_guard lock(mutex_);
      if (head.kind == Kind::records) {
        records_.emplace();
        for (std::size_t at = sizeof head; at < bytes->size();) {
          std::uint32_t length = 0;
          std::memcpy(&length, bytes->data() + at, sizeof length);
          const auto first = bytes->begin() + static_cast<std::ptrdiff_t>(at + sizeof length);
          records_->emplace_back(first, first + length);
          at += sizeof length + length;
        }
      } else if (head.kind == Kind::end) {
        ends_.push_back(
            {head.rank, static_cast<wire::RankState>(head.state), static_cast<wire::EndKind>(head.end_kind), head.value,
             std::string(reinterpret_cast<const char*>(bytes->data() + sizeof head), bytes->size() - sizeof head)});
        if (ends_.back().state == wire::RankState::dead) dead_ = head.rank;
        if (told_) told_(ends_.back());
      }
      changed_.notify_all();
    }
  }

  HubPlace place_;
  std::vector<std::string> names_;
  UniqueFd connection_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::optional<std::vector<RankRecord>> records_;
  std::vector<RankEnd> ends_;
  std::optional<std::uint32_t> dead_;
  std::function<void(const RankEnd&)> told_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<comm::Rendezvous> meet_at_hub(HubPlace place) {
  return std::make_unique<HubRendezvous>(std::move(place));
}

}  // namespace baton::test
