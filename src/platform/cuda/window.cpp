#include "platform/cuda/window.hpp"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <baton/error.hpp>

namespace baton::cuda {
namespace {

/// What a member tells the others.
struct Member {
  std::int64_t process;
  std::int64_t ordinal;
  Context context;
  DevicePointer part;
};

}  // namespace

Window::Window(Gpu& gpu, const BatonGroup& group, std::size_t bytes, std::uint64_t* parts) : gpu_(gpu) {
  try {
    open(platforms::Group(group), bytes, parts);
  } catch (...) {
    gpu_.shared().remove_window(own_);
    if (own_ != 0) gpu_.shared().when_idle([own = own_] { Driver::get().free(own); });
    throw;
  }
}

Window::~Window() {
  gpu_.shared().remove_window(own_);
  gpu_.shared().when_idle([own = own_] { Driver::get().free(own); });
}

void Window::open(const platforms::Group& group, std::size_t bytes, std::uint64_t* parts) {
  SharedGpu& shared = gpu_.shared();
  const std::vector<Member> members = group.tell([&] {
    const Driver& driver = Driver::get();
    // Not of the pool: kernels of other GPUs reach all else.
    driver.check("allocating a window", driver.alloc(&own_, std::max<std::size_t>(bytes, 1)));
    gpu_.clear("clearing a window", own_, std::max<std::size_t>(bytes, 1));
    shared.add_window({own_, bytes});
    return Member{.process = ::getpid(), .ordinal = shared.ordinal(), .context = shared.context(), .part = own_};
  });
  group.meet([&] {
    for (std::uint32_t rank = 0; rank < group.size(); ++rank) {
      const Member& member = members[rank];
      if (group.host(rank) != group.host(group.rank()) || member.process != ::getpid()) {
        throw Error(Code::unsupported,
                    fmt::format("rank {} is a chip of another process: windows of platform cuda are "
                                "of one process",
                                rank),
                    {"a Worker has its chips in one process"});
      }
      shared.reach(member.context, static_cast<int>(member.ordinal));
      parts[rank] = member.part;
    }
  });
}

}  // namespace baton::cuda
