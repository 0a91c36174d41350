// Runs a command while every frame that a host of scripts/hosts-lab sends is on its way for longer:
//   hosts_delay PREFIX MICROSECONDS COMMAND...    (as `scripts/hosts-lab delay MICROSECONDS COMMAND...` calls it)
//
// Some kernels have no netem. So this program takes the place of the bridge that joins the hosts. The kernel writes
// down when a frame came. While frames wait nobody needs to be told of others: they are found when the next one is due,
// and are due later. So a frame costs a waking when it is due, and none when it comes.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/unique_fd.hpp"
#include "port.hpp"
#include "report.hpp"

namespace {

using delay::Nanoseconds;
using Ports = std::vector<std::unique_ptr<delay::Port>>;

constexpr std::size_t kMostFrames = 4096;

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

/// The ports of the switch of this lab. Enters its namespace.
Ports take_ports(const std::string& prefix, Nanoseconds delay) {
  const std::string place = "/run/netns/" + prefix + "-switch";
  const baton::UniqueFd space(open(place.c_str(), O_RDONLY | O_CLOEXEC));
  if (!space || setns(space.get(), CLONE_NEWNET) != 0) fail(place);
  Ports ports;
  ports.push_back(std::make_unique<delay::Port>(prefix + "-out", std::nullopt));
  for (int host = 0; std::filesystem::exists("/run/netns/" + prefix + std::to_string(host)); ++host) {
    ports.push_back(std::make_unique<delay::Port>(prefix + std::to_string(host) + "p", delay));
  }
  return ports;
}

class Switch {
 public:
  Switch(Ports& ports, Nanoseconds delay) : ports_(ports), room_(kMostFrames), report_(delay) {}

  void take(delay::Port& port) { port.take(room_); }

  /// When the next frame is due; negative if none waits.
  [[nodiscard]] Nanoseconds due() const {
    Nanoseconds first = -1;
    for (const auto& port : ports_) {
      if (!port->waiting().empty() && (first < 0 || port->waiting().front().due < first))
        first = port->waiting().front().due;
    }
    return first;
  }
  void send_due() {
    for (const auto& port : ports_) {
      while (!port->waiting().empty() && port->waiting().front().due <= delay::now()) {
        const delay::Frame frame = port->waiting().front();
        port->waiting().pop_front();
        behind_[frame.source()] = port.get();
        pass_on(frame, *port);
        if (port->delays()) report_.note(delay::now() - frame.sent);
        room_.give_back(frame.data);
      }
    }
  }
  void print_report() {
    for (const auto& port : ports_) report_.note_dropped(port->dropped());
    report_.print(stderr);
  }

 private:
  void pass_on(const delay::Frame& frame, const delay::Port& from) {
    const auto known = behind_.find(frame.target());
    const bool to_all = known == behind_.end() || delay::Frame::is_for_many(frame.target());
    for (const auto& port : ports_) {
      if (port.get() == &from || (!to_all && port.get() != known->second)) continue;
      if (!port->send(frame)) report_.note_dropped(1);
    }
  }

  Ports& ports_;
  delay::FrameRoom room_;
  delay::Report report_;
  std::map<delay::Frame::Address, const delay::Port*> behind_;  // where the owner of an address is
};

/// Frames go before all else; otherwise they would wait for those who wait for them.
void go_first() {
  sched_param priority{};
  priority.sched_priority = 1;
  if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) != 0)
    std::fprintf(stderr, "hosts_delay: no priority of real time (%s): frames wait for a processor\n",
                 std::strerror(errno));
  // Without it a page may have to be found first.
  static_cast<void>(mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT));
}

pid_t start(char** command, const sigset_t& signals) {
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child != 0) return child;
  sigprocmask(SIG_UNBLOCK, &signals, nullptr);
  execvp(command[0], command);
  std::fprintf(stderr, "hosts_delay: %s: %s\n", command[0], std::strerror(errno));
  _exit(127);
}

/// Serves the ports until the command has ended, and returns how it did.
class Service {
 public:
  Service(Ports& ports, Switch& through, int signals, pid_t command)
      : through_(through), signals_(signals), command_(command), events_(epoll_create1(EPOLL_CLOEXEC)) {
    add(signals, nullptr);
    for (const auto& port : ports) add(port->descriptor(), port.get());
  }

  [[nodiscard]] int run() {
    while (!status_) {
      look(wait_until_worth_it());
      through_.send_due();
    }
    return *status_;
  }

 private:
  void add(int descriptor, delay::Port* port) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = port;
    if (epoll_ctl(events_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
  }
  /// Returns for how long to wait for events; negative: until there is one.
  Nanoseconds wait_until_worth_it() {
    // Far longer than a waking takes, and too short for what the kernel holds to overflow.
    constexpr Nanoseconds kSoon = 1'000'000;
    const Nanoseconds due = through_.due();
    if (due < 0) return -1;
    const Nanoseconds left = due - delay::now();
    if (left > kSoon) return left - kSoon / 2;
    alarm_.be_up_at(due);
    return 0;
  }
  void look(Nanoseconds longest) {
    std::array<epoll_event, 64> events;
    const timespec time = delay::as_timespec(std::max<Nanoseconds>(longest, 0));
    const int found = epoll_pwait2(events_.get(), events.data(), events.size(), longest < 0 ? nullptr : &time, nullptr);
    for (int i = 0; i < found; ++i) {
      if (auto* const port = static_cast<delay::Port*>(events[static_cast<std::size_t>(i)].data.ptr); port != nullptr)
        through_.take(*port);
      else
        on_signal();
    }
  }
  void on_signal() {
    signalfd_siginfo info{};
    if (read(signals_, &info, sizeof info) != sizeof info) return;
    if (info.ssi_signo != SIGCHLD) {
      // It still needs its network while it ends. Ctrl-C has reached it, too.
      if (info.ssi_signo != SIGINT) kill(command_, static_cast<int>(info.ssi_signo));
      return;
    }
    int status = 0;
    if (waitpid(command_, &status, WNOHANG) != command_) return;
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  Switch& through_;
  int signals_;
  pid_t command_;
  baton::UniqueFd events_;
  delay::Alarm alarm_;
  std::optional<int> status_;
};

int run(const std::string& prefix, Nanoseconds delay, char** command) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const baton::UniqueFd coming(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!coming) fail("signalfd");
  const baton::UniqueFd here(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  Ports ports = take_ports(prefix, delay);
  // The command is not in the namespace of the switch.
  const baton::UniqueFd there(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!here || !there || setns(here.get(), CLONE_NEWNET) != 0) fail("setns");
  const pid_t child = start(command, signals);
  if (setns(there.get(), CLONE_NEWNET) != 0) fail("setns");
  go_first();
  Switch through(ports, delay);
  const int status = Service(ports, through, coming.get(), child).run();
  through.print_report();
  return status;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) {
    std::fprintf(stderr, "usage: hosts_delay PREFIX MICROSECONDS COMMAND...\n");
    return 2;
  }
  return run(argv[1], 1000 * std::strtoll(argv[2], nullptr, 10), argv + 3);
} catch (const std::exception& error) {
  std::fprintf(stderr, "hosts_delay: %s\n", error.what());
  return 1;
}
