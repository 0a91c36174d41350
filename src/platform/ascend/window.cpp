#include "platform/ascend/window.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "platform/ascend/device_number.hpp"
#include "platform/ascend/generation.hpp"

namespace baton::ascend {
namespace {

/// How long a communicator may be busy before it is left behind.
constexpr std::chrono::seconds kBusy{5};

std::uint64_t number(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

/// All members see the same list, so all refuse.
template <class Members>
void check_processes(const platforms::Group& group, const Members& members) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (group.host(i) != group.host(k) || members[i].process != members[k].process) continue;
      throw Error(
          Code::unsupported,
          fmt::format("ranks {} and {} are of one process; chips of this platform share windows between processes", k,
                      i),
          {"run each rank as a process of its own: Isolation::processes, baton run"});
    }
  }
}

void check_hosts(const platforms::Group& group) {
  if (!group.spans_hosts() || kGeneration.has_fabric) return;
  std::size_t other = 0;
  while (group.host(other) == group.host(0)) ++other;
  throw Error(Code::unsupported,
              fmt::format("ranks 0 and {} are on different hosts; chips of platform {} share windows within a host",
                          other, kGeneration.platform),
              {"let all chips of a window be on one host"});
}

}  // namespace

Window::Window(Npu& npu, const platforms::Group& group, std::size_t bytes)
    : npu_(npu), rank_(group.rank()), parts_(group.size()) {
  try {
    open(group, bytes);
  } catch (...) {
    Ending ignored;  // what began this is told
    release_others(ignored);
    try {
      // An exporter frees after those that have imported.
      group.meet([] {});
    } catch (const Error&) {
    }
    release_own(ignored);
    throw;
  }
}

Window::~Window() {
  if (is_closed_) return;
  Ending ignored;  // told by close(), where somebody asks
  release_others(ignored);
  release_own(ignored);
}

void Window::open(const platforms::Group& group, std::size_t bytes) {
  if (group.size() == 1) return make_own(bytes);
  check_hosts(group);
  const std::vector<Hello> members = group.tell([&] { return hello(); });
  check_processes(group, members);
  std::vector<Shareable> handles = group.tell([&] {
    join(members[0].root);
    make_own(bytes);
    return share(group, members);
  });
  // Both directions, before anything is mapped.
  group.meet([&] {
    for (std::size_t member = 0; member < members.size(); ++member) {
      if (group.host(member) == group.host(rank_)) npu_.reach(number_here(members[member].device));
    }
  });
  group.meet([&] {
    for (std::size_t member = 0; member < members.size(); ++member) {
      if (member != rank_) import(member, handles[member], group.spans_hosts());
    }
  });
}

Window::Hello Window::hello() const {
  Hello hello{.process = 0, .device = number_of_driver(npu_.id()), .root = {}};
  const Cann& cann = Cann::get();
  cann.check("aclrtDeviceGetBareTgid", cann.aclrtDeviceGetBareTgid(&hello.process));
  if (rank_ == 0) {
    const Hccl& hccl = Hccl::get();
    const Result result = hccl.HcclGetRootInfo(&hello.root);
    npu_.make_current();  // these functions switch the context of their thread
    hccl.check("HcclGetRootInfo", result);
  }
  return hello;
}

void Window::join(const RootInfo& root) {
  const Hccl& hccl = Hccl::get();
  const Result result =
      hccl.HcclCommInitRootInfo(static_cast<std::uint32_t>(parts_.size()), &root, rank_, &communicator_);
  npu_.make_current();
  hccl.check("HcclCommInitRootInfo", result);
}

void Window::make_own(std::size_t bytes) {
  const Cann& cann = Cann::get();
  PhysicalMemory what{.device = static_cast<std::uint32_t>(npu_.id())};
  std::size_t unit = 0;
  cann.check("aclrtMemGetAllocationGranularity",
             cann.aclrtMemGetAllocationGranularity(&what, kLeastGranularity, &unit));
  part_bytes_ = (std::max<std::size_t>(bytes, 1) + unit - 1) / unit * unit;
  Part& own = parts_[rank_];
  cann.check("aclrtMallocPhysical", cann.aclrtMallocPhysical(&own.memory, part_bytes_, &what, 0));
  map(own);
  cann.check("aclrtMemset", cann.aclrtMemset(own.address, part_bytes_, 0, part_bytes_));
}

void Window::map(Part& part) {
  const Cann& cann = Cann::get();
  cann.check("aclrtReserveMemAddress", cann.aclrtReserveMemAddress(&part.address, part_bytes_, 0, nullptr, 0));
  cann.check("aclrtMapMem", cann.aclrtMapMem(part.address, part_bytes_, 0, part.memory, 0));
  part.mapped = true;
  MemoryAccess access{.device = static_cast<std::uint32_t>(number_of_driver(npu_.id()))};
  cann.check("aclrtMemSetAccess", cann.aclrtMemSetAccess(part.address, part_bytes_, &access, 1));
}

Shareable Window::share(const platforms::Group& group, const std::vector<Hello>& members) {
  const Cann& cann = Cann::get();
  Shareable shareable;
  if (group.spans_hosts()) {
    cann.check("aclrtMemExportToShareableHandleV2",
               cann.aclrtMemExportToShareableHandleV2(parts_[rank_].memory, kForAll, kOfFabric, shareable.fabric));
    return shareable;
  }
  cann.check("aclrtMemExportToShareableHandle",
             cann.aclrtMemExportToShareableHandle(parts_[rank_].memory, 0, 0, &shareable.number));
  std::vector<std::int32_t> processes;
  for (std::size_t member = 0; member < members.size(); ++member) {
    if (member != rank_) processes.push_back(members[member].process);
  }
  cann.check("aclrtMemSetPidToShareableHandle",
             cann.aclrtMemSetPidToShareableHandle(shareable.number, processes.data(), processes.size()));
  return shareable;
}

void Window::import(std::size_t member, Shareable& shareable, bool of_fabric) {
  const Cann& cann = Cann::get();
  Part& part = parts_[member];
  if (of_fabric) {
    cann.check("aclrtMemImportFromShareableHandleV2",
               cann.aclrtMemImportFromShareableHandleV2(shareable.fabric, kOfFabric, 0, &part.memory));
  } else {
    cann.check("aclrtMemImportFromShareableHandle",
               cann.aclrtMemImportFromShareableHandle(shareable.number, npu_.id(), &part.memory));
  }
  map(part);
}

std::vector<std::uint64_t> Window::parts() const {
  std::vector<std::uint64_t> addresses;
  for (const Part& part : parts_) addresses.push_back(number(part.address));
  return addresses;
}

void Window::leave() {
  Ending ending;
  release_others(ending);
  ending.finish();
}

void Window::close() {
  Ending ending;
  is_closed_ = true;
  release_others(ending);
  release_own(ending);
  ending.finish();
}

void Window::release(Part& part, Ending& ending) {
  const Cann& cann = Cann::get();
  if (part.mapped) ending("aclrtUnmapMem", cann.aclrtUnmapMem(part.address));
  if (part.memory != nullptr) ending("aclrtFreePhysical", cann.aclrtFreePhysical(part.memory));
  if (part.address != nullptr) ending("aclrtReleaseMemAddress", cann.aclrtReleaseMemAddress(part.address));
  part = {};
}

void Window::release_others(Ending& ending) {
  // A chip that is lost gives everything back when it is reset.
  if (!npu_.make_current(ending)) return;
  for (std::size_t member = parts_.size(); member-- > 0;) {
    if (member != rank_) release(parts_[member], ending);
  }
}

void Window::release_own(Ending& ending) {
  if (!npu_.make_current(ending)) return;
  release(parts_[rank_], ending);
  if (communicator_ == nullptr) return;
  const Hccl& hccl = Hccl::get();
  const auto deadline = std::chrono::steady_clock::now() + kBusy;
  Result result = hccl.HcclCommDestroy(communicator_);
  while (result == kHcclBusy && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
    result = hccl.HcclCommDestroy(communicator_);
  }
  communicator_ = nullptr;
  if (result != 0) ending(Hccl::error("HcclCommDestroy", result));
  static_cast<void>(npu_.make_current(ending));
}

}  // namespace baton::ascend
