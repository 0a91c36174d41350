#include "job/hosts/agent_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/environment.hpp"
#include "base/fail.hpp"
#include "base/liveness.hpp"
#include "base/quote.hpp"
#include "base/shell_word.hpp"
#include "base/spawn.hpp"
#include "job/launch/pipe_ends.hpp"

namespace baton::job {
namespace {

constexpr std::size_t kKeptBytes = 4096;
constexpr std::size_t kToldLines = 8;
constexpr std::string_view kPlaceholder = "{host}";

}  // namespace

std::string shell_command(const AgentCommand& command) {
  std::string text = command.launch;
  std::size_t place = text.find(kPlaceholder);
  if (place == std::string::npos) {
    text += " ";
    text += kPlaceholder;
    place = text.size() - kPlaceholder.size();
  }
  for (; place != std::string::npos; place = text.find(kPlaceholder, place + command.host.size())) {
    text.replace(place, kPlaceholder.size(), command.host);
  }
  return fmt::format("exec {} {} agent", text, shell_word(command.baton));
}

AgentProcess::AgentProcess(EventLoop& loop, AgentCommand command, const std::string& input)
    : loop_(loop), command_(std::move(command)) {
  auto [child_input, our_input] = make_pipe();
  auto [our_output, child_output] = make_pipe();
  output_ = std::move(our_output);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  pid_ = spawn({.program = "/bin/sh",
                .arguments = {"sh", "-c", shell_command(command_)},
                .environment = environment_of_this_process(),
                .descriptors = {child_input.get(), child_output.get(), child_output.get()}});
  // A pipe takes as much at once.
  if (::write(our_input.get(), input.data(), input.size()) != static_cast<ssize_t>(input.size())) {
    fail_system("writing to the agent's standard input");
  }
  loop_.add(output_.get(), EPOLLIN, [this] { listen(); });
}

AgentProcess::~AgentProcess() {
  loop_.remove(output_.get());
  if (pid_ < 0 || status()) return;
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void AgentProcess::listen() {
  char bytes[4096];
  const ssize_t count = ::read(output_.get(), bytes, sizeof bytes);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    loop_.remove(output_.get());
    return;
  }
  said_.append(bytes, static_cast<std::size_t>(count));
  if (said_.size() > kKeptBytes) said_.erase(0, said_.size() - kKeptBytes);
}

std::optional<int> AgentProcess::status() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_;
}

void AgentProcess::wait_for_end(const Deadline& deadline) {
  const UniqueFd pidfd(status() ? -1 : static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  pollfd ended{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  while (pidfd && ::poll(&ended, 1, deadline.poll_timeout_ms()) < 0 && errno == EINTR) {
  }
}

std::vector<std::string> AgentProcess::last_lines() const {
  std::vector<std::string> lines;
  for (std::string_view rest = said_; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    std::string line;
    for (const char c : rest.substr(0, end)) {
      if (c != '\r') line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    if (!line.empty()) lines.push_back(std::move(line));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  if (lines.size() > kToldLines) lines.erase(lines.begin(), lines.end() - kToldLines);
  return lines;
}

Error AgentProcess::failure() {
  // What it wrote before its end has come by now.
  while (loop_.watches(output_.get())) {
    const std::size_t before = said_.size();
    listen();
    if (said_.size() == before) break;
  }
  const int status = status_.value_or(0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::vector<std::string> notes = last_lines();
  notes.push_back(fmt::format("the command was: {}", shell_command(command_).substr(5)));
  constexpr int kNotExecutable = 126;
  constexpr int kNotFound = 127;
  constexpr int kOfSsh = 255;
  if (code == kNotFound || code == kNotExecutable) {
    return error_in(Situation::no_baton_there,
                    fmt::format("host {}: {} cannot be run there", quote(command_.host), quote(command_.baton)),
                    std::move(notes));
  }
  return error_in(code == kOfSsh ? Situation::host_unreachable : Situation::agent_failed,
                  fmt::format("host {}: the command that starts the agent ended with {}", quote(command_.host),
                              describe_wait_status(status)),
                  std::move(notes));
}

}  // namespace baton::job
