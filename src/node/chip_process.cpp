// A process that is a chip of a node.
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <thread>

#include "base/fail.hpp"
#include "base/fiber.hpp"
#include "base/log.hpp"
#include "base/processors.hpp"
#include "base/service_thread.hpp"
#include "chip/cores/profile.hpp"
#include "comm/backends/shm/descriptor_message.hpp"
#include "comm/domain_state.hpp"
#include "comm/memfd.hpp"
#include "job/connect.hpp"
#include "job/launcher_environment.hpp"
#include "node/chip_bell.hpp"
#include "node/chip_server.hpp"
#include "node/chips.hpp"
#include "node/code_address.hpp"
#include "node/far_node.hpp"
#include "node/near_message.hpp"
#include "node/near_node.hpp"
#include "node/start_message.hpp"

namespace baton::node {
namespace {

bool main_program_asks = false;

/// The node is gone, or does not want this process any more.
[[noreturn]] void end_now(int code) { ::_exit(code); }

/// Takes in the buffers that the node gives, and ends the process with the node. On a thread of its own, so that
/// neither waits for tasks.
class NodeWatch {
 public:
  /// `node`: none where the end of the connection tells.
  NodeWatch(int socket, std::optional<ProcessId> node, BufferTable& buffers, std::function<void()> on_buffer)
      : socket_(socket), buffers_(buffers), on_buffer_(std::move(on_buffer)) {
    if (node) node_.emplace(*node);
    start_thread([this] { watch(); }).detach();
  }

 private:
  [[noreturn]] void watch() {
    const int node = node_ ? node_->fd() : -1;
    const bool looks = node_ && node < 0;
    const int wait_ms = looks ? static_cast<int>(std::chrono::milliseconds(DeathWatch::poll_interval()).count()) : -1;
    while (true) {
      pollfd entries[] = {{socket_, POLLIN, 0}, {node, POLLIN, 0}};
      if (::poll(entries, 2, wait_ms) < 0 && errno != EINTR) end_now(1);
      if (node_ && node_->ended()) end_now(1);
      if (entries[0].revents != 0) receive();
    }
  }

  void receive() {
    BufferMail mail{};
    shm::Attachments with;
    const ssize_t length = shm::receive_with_descriptor(socket_, &mail, sizeof mail, with);
    if (length == 0) end_now(0);
    if (length != static_cast<ssize_t>(sizeof mail)) return;
    try {
      auto memory = comm::map_memfd(with.descriptor, mail.bytes);
      mail.name[sizeof mail.name - 1] = '\0';
      buffers_.insert(mail.id, {static_cast<std::byte*>(memory->address()), mail.bytes, mail.name, memory});
      on_buffer_();
    } catch (const Error& error) {
      log::warn("a buffer of the node cannot be mapped: {}", error.message());
    }
  }

  int socket_;
  std::optional<DeathWatch> node_;
  BufferTable& buffers_;
  std::function<void()> on_buffer_;
};

void tell_start(wire::ChipPhase phase) {
  const StartNews news = phase == wire::ChipPhase::ready ? StartNews::ready : StartNews::failed;
  while (::send(kSocketFd, &news, sizeof news, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

std::shared_ptr<comm::SharedMemory> map_node(const UniqueFd& fd) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) fail_system("fstat of the node's segment");
  auto memory = comm::map_memfd(fd, static_cast<std::uint64_t>(status.st_size));
  const auto& header = *static_cast<const wire::NodeHeader*>(memory->address());
  if (header.magic != wire::kNodeMagic || header.version != wire::kNodeVersion || header.bytes != memory->bytes()) {
    fail(Code::protocol, "the node that started this chip is of another version of Baton");
  }
  return memory;
}

/// Tasks and control messages: as fibers of one thread where a simulated chip has one, else on threads of their own.
bool serve(ChipServer& server, const StartMessage& start, const comm::World& world,
           const std::function<void(wire::ChipPhase)>& tell_start) {
  const int threads = start.chip.threads > 0 ? start.chip.threads : std::max(1, usable_processors() / start.size);
  bool made = false;
  // A device keeps its thread while it works.
  if (threads > 1 || !chip::is_simulated(start.chip.platform)) {
    std::thread control = start_thread([&] { server.run_control(); });
    made = server.run_tasks(start.chip, tell_start);
    if (!made) end_now(1);
    control.join();
    return made;
  }
  FiberPool pool({.threads = 1, .seed = options().seed, .place = world.parking_place()});
  pool.add([&] {
    made = server.run_tasks(start.chip, tell_start);
    if (!made) end_now(1);
  });
  pool.add([&] { server.run_control(); });
  pool.run();
  return made;
}

void report_failure(wire::NodeHeader& header, std::size_t chip, const Failure& failure, Courier* courier = nullptr) {
  ChipMailbox mailbox(header, chip, FutexScope::shared, courier);
  StreamWriter reports(views_of(header, chip).reports);
  MessageWriter report;
  report.begin(MessageKind::failure);
  report.put(std::uint64_t{0});
  put_failure(report, failure);
  Doorbell nobody;
  const ParkingPlace place{&nobody, FutexScope::process, Crowding::spare};
  static_cast<void>(mailbox.write(reports, report.finish(), place, Deadline::after(options().wait_timeout)));
  mailbox.set_phase(wire::ChipPhase::failed);
}

/// The node is on another host.
int serve_far_node(const job::Assignment& assignment) {
  const auto world = job::connect(assignment, options());
  FarNode node(world);
  try {
    const StartMessage start = node.await_start();
    ChipServer server(node.header(), Domain(comm::DomainState::of_world(world)), node.buffers(), FutexScope::process,
                      &node);
    const bool ended_well = serve(server, start, *world, [](wire::ChipPhase) {});
    world->leave(comm::Farewell::leave);
    return ended_well ? 0 : 1;
  } catch (...) {
    report_failure(node.header(), world->rank(), failure_of(std::current_exception()), &node.courier());
    world->leave(comm::Farewell::leave);
    return 1;
  }
}

/// A node of this host, and how a chip of it meets the others.
struct NodeHere {
  std::shared_ptr<comm::SharedMemory> memory;
  int socket = -1;
  std::function<std::shared_ptr<comm::World>(const StartMessage&)> join;
  std::function<void(wire::ChipPhase)> tell_start;
  bool has_started_us = false;  // else the end of the connection tells its own
};

int serve_node_here(std::size_t chip, const NodeHere& node) {
  auto& header = *static_cast<wire::NodeHeader*>(node.memory->address());
  StreamReader control(views_of(header, chip).control);
  const auto record = control.next();
  if (!record) fail(Code::protocol, "the node did not say what this chip is");
  MessageReader message(*record);
  const StartMessage start = get_start(message);
  control.release();
  // The thread below uses them until the process ends.
  static BufferTable buffers;
  static ChipBell bell;
  static const NodeWatch watch(node.socket, node.has_started_us ? std::optional(start.node) : std::nullopt, buffers,
                               [] { bell.ring(); });
  try {
    const auto world = node.join(start);
    // Before that no task runs, and so nobody waits for buffers.
    std::optional<ChipBell::Listening> listening;
    listening.emplace(bell, [&] { wire::doorbell_of(world->control(), chip).ring_always(FutexScope::shared); });
    ChipServer server(header, Domain(comm::DomainState::of_world(world)), buffers, FutexScope::shared);
    const bool ended_well = serve(server, start, *world, node.tell_start);
    listening.reset();
    world->leave(comm::Farewell::leave);
    return ended_well ? 0 : 1;
  } catch (...) {
    report_failure(header, chip, failure_of(std::current_exception()));
    node.tell_start(wire::ChipPhase::failed);
    return 1;
  }
}

/// Started by the node itself.
int chip_main(int rank) {
  auto memory = map_node(UniqueFd(kSegmentFd));
  const auto join = [rank](const StartMessage& start) {
    Options mine = options();
    mine.launcher = start.launcher;
    return job::connect("shm:" + start.job, rank, start.size, mine);
  };
  return serve_node_here(static_cast<std::size_t>(rank), {.memory = std::move(memory),
                                                          .socket = kSocketFd,
                                                          .join = join,
                                                          .tell_start = tell_start,
                                                          .has_started_us = true});
}

/// Started by the agent of this host, which the node may be on or not.
int chip_of_agent_main() {
  const char* set = std::getenv(kNodeVariable);
  const std::string address = set == nullptr ? "" : set;
  ::unsetenv(kNodeVariable);
  const auto assignment = job::find_assignment();
  if (!assignment) fail(Code::protocol, "an agent started a chip without saying which");
  auto near = visit_node(address, static_cast<std::uint32_t>(assignment->rank));
  if (!near) return serve_far_node(*assignment);
  // Until the process ends: the node sends buffers.
  const int socket = near->socket.release();
  const auto join = [&](const StartMessage&) {
    auto world = job::connect(assignment, options());
    tell_control(socket, *world);
    return world;
  };
  return serve_node_here(
      static_cast<std::size_t>(assignment->rank),
      {.memory = map_node(near->segment), .socket = socket, .join = join, .tell_start = [](wire::ChipPhase) {}});
}

}  // namespace

bool program_can_be_chip() noexcept { return main_program_asks; }

bool become_chip_if_asked(const void* anchor) {
  // Libraries include the header, too; only the program itself can be started again.
  if (!find_code(anchor).file.empty()) return true;
  main_program_asks = true;
  const char* asked = std::getenv(kChipVariable);
  if (asked == nullptr) return true;
  const std::string chip = asked;
  ::unsetenv(kChipVariable);
  // The node decides what an interrupt from the terminal means.
  ::signal(SIGINT, SIG_IGN);
  int code = 1;
  try {
    code = chip == kChipOfAgent ? chip_of_agent_main() : chip_main(std::atoi(chip.c_str()));
  } catch (const std::exception& error) {
    log::write(LogLevel::error, fmt::format("chip {}: {}", chip, error.what()));
  }
  // Nothing of the program that this process was started from has run, so nothing of it is torn down.
  end_now(code);
}

}  // namespace baton::node
