#include "job/hosts/join_desk.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/log.hpp"

namespace baton::job {
namespace {

// Beyond those that are expected: enough for agents to come in while somebody scans the port.
constexpr std::size_t kSpare = 64;

}  // namespace

JoinDesk::JoinDesk(EventLoop& loop, const JobToken& token, Settings settings, Admit admit)
    : loop_(loop),
      token_(token),
      settings_(std::move(settings)),
      admit_(std::move(admit)),
      addresses_(addresses_to_offer(settings_.interface)),
      socket_(listen_at_one_of(settings_.ports, settings_.interface.empty() ? std::string() : addresses_.front(),
                               static_cast<int>(settings_.expected + kSpare))),
      most_(settings_.expected + kSpare) {
  if (!settings_.interface.empty()) addresses_.resize(1);
  loop_.add(socket_.fd.get(), EPOLLIN, [this] { accept(); });
}

JoinDesk::~JoinDesk() {
  loop_.remove(socket_.fd.get());
  for (const Stranger& stranger : strangers_) loop_.remove(stranger.channel->fd());
}

void JoinDesk::accept() {
  UniqueFd connection(::accept4(socket_.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!connection) {  // gone again; or no descriptor is left, and somebody has to make room
    const bool full = errno == EMFILE || errno == ENFILE;
    if (full && !strangers_.empty()) send_away(strangers_.begin(), "descriptors", "no descriptor is left");
    return;
  }
  expect_answers(connection.get());
  if (strangers_.size() >= most_) {
    send_away(strangers_.begin(), "crowd", "too many connections that do not say who they are");
  }
  const Place place = strangers_.insert(
      strangers_.end(),
      {make_tls_channel(std::move(connection), token_, TlsRole::launcher), Deadline::after(settings_.patience)});
  watch(place);
}

void JoinDesk::watch(Place place) {
  const TlsChannel& channel = *place->channel;
  loop_.remove(channel.fd());
  loop_.add(channel.fd(), channel.wants_write() ? EPOLLOUT : EPOLLIN, [this, place] { go_on(place); });
}

void JoinDesk::go_on(Place place) {
  const Transfer transfer = place->channel->handshake();
  switch (transfer.status) {
    case TransferStatus::would_block: watch(place); break;
    case TransferStatus::closed: send_away(place, "token", "it " + place->channel->why_closed()); break;
    case TransferStatus::done: {
      loop_.remove(place->channel->fd());
      std::unique_ptr<TlsChannel> channel = std::move(place->channel);
      strangers_.erase(place);
      admit_(std::move(channel));
    }
  }
}

void JoinDesk::send_away(Place place, const std::string& kind, const std::string& why) {
  refuse(place->channel->fd(), kind, why);
  loop_.remove(place->channel->fd());
  strangers_.erase(place);
}

void JoinDesk::refuse(int socket, const std::string& kind, const std::string& why) {
  if (refusals_.contains(kind)) return;
  std::string text = fmt::format("refused a connection from {}: {}", peer_address(socket), why);
  log::warn("{}; more of this kind are not told", text);
  refusals_.emplace(kind, std::move(text));
}

std::vector<std::string> JoinDesk::refusals() const {
  std::vector<std::string> texts;
  for (const auto& [kind, text] : refusals_) texts.push_back(text);
  return texts;
}

void JoinDesk::look_at_clock() {
  while (!strangers_.empty() && strangers_.front().deadline.passed()) {
    send_away(strangers_.begin(), "silence", "it did not prove in time that it knows the token of the job");
  }
}

}  // namespace baton::job
