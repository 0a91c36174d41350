#include "job/hosts/agent.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <sstream>

#include "base/fail.hpp"
#include "job/hosts/agent_run.hpp"
#include "job/hosts/interfaces.hpp"
#include "job/hosts/tls_channel.hpp"

namespace baton::job {
namespace {

constexpr std::chrono::seconds kInputPatience{10};
// One address that swallows what is sent to it must not use up the time of the others.
constexpr std::chrono::seconds kConnectPatience{3};
constexpr std::size_t kLongestLine = 16 * 1024;

/// What the launcher writes to an agent's standard input.
struct Call {
  JobToken token{};
  std::uint32_t host = 0;
  std::uint16_t port = 0;
  std::vector<std::string> addresses;
};

std::string read_line(int fd, const Deadline& deadline) {
  std::string line;
  while (line.find('\n') == std::string::npos && line.size() < kLongestLine) {
    pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, deadline.poll_timeout_ms()) == 0) break;
    char bytes[1024];
    const ssize_t count = ::read(fd, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    line.append(bytes, static_cast<std::size_t>(count));
  }
  return line.substr(0, line.find('\n'));
}

Call read_call() {
  std::istringstream line(read_line(STDIN_FILENO, Deadline::after(kInputPatience)));
  std::string word;
  std::string token;
  std::string addresses;
  std::uint32_t protocol = 0;
  Call call;
  line >> word >> protocol;
  if (word == "baton-agent" && protocol != kAgentProtocol) {
    fail(Situation::other_version, "the launcher speaks version {} of the agents' protocol, this is {}", protocol,
         kAgentProtocol);
  }
  line >> token >> call.host >> call.port >> addresses;
  const auto parsed = token_from_hex(token);
  if (!line || word != "baton-agent" || !parsed) {
    fail(Code::invalid_argument,
         "`baton agent` is started by `baton run --hosts`, which tells it on standard input what to do");
  }
  call.token = *parsed;
  for (std::istringstream list(addresses); std::getline(list, word, ',');) call.addresses.push_back(word);
  return call;
}

std::unique_ptr<TlsChannel> open_channel(const Call& call, const std::string& address) {
  const Deadline deadline = Deadline::after(kConnectPatience);
  UniqueFd socket = connect_to(address, call.port, deadline);
  expect_answers(socket.get());
  auto channel = make_tls_channel(std::move(socket), call.token, TlsRole::agent);
  for (;;) {
    const Transfer transfer = channel->handshake();
    if (transfer.status == TransferStatus::done) return channel;
    if (transfer.status == TransferStatus::closed) fail(Code::join_refused, "{} {}", address, channel->why_closed());
    pollfd ready{
        .fd = channel->fd(), .events = static_cast<short>(channel->wants_write() ? POLLOUT : POLLIN), .revents = 0};
    if (::poll(&ready, 1, deadline.poll_timeout_ms()) == 0) fail(Code::join_timeout, "{} does not answer", address);
  }
}

std::unique_ptr<TlsChannel> find_launcher(const Call& call) {
  std::vector<std::string> notes;
  for (const std::string& address : call.addresses) {
    try {
      return open_channel(call, address);
    } catch (const Error& error) {
      notes.push_back(error.message());
    }
  }
  throw error_in(Situation::agent_silent, "the agent cannot reach the launcher", std::move(notes));
}

}  // namespace

int run_agent(const std::string& version) {
  SignalGuard signals;  // from here on a launcher that goes away is an error of write()
  const Call call = read_call();
  auto channel = find_launcher(call);
  std::string address = own_address(channel->fd());
  AgentRun run(signals, std::move(channel), std::move(address));
  return run.run({.protocol = kAgentProtocol, .version = version, .host = call.host});
}

}  // namespace baton::job
