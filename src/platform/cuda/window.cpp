#include "platform/cuda/window.hpp"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <optional>
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

/// Tells all members that `step` was done here, or why not, and what `mine` is then. Throws if it failed anywhere.
std::vector<Member> together(const BatonGroup& group, const Member& mine, const std::function<void()>& step) {
  std::optional<Error> failure;
  try {
    step();
  } catch (const Error& error) {
    failure = error;
  }
  std::vector<Member> all(group.size);
  const int status = group.exchange(group.context, failure ? static_cast<int>(failure->code()) : 0,
                                    failure ? failure->what() : nullptr, &mine, sizeof mine, all.data());
  if (failure) throw Error(*failure);
  if (status != 0) throw Error(static_cast<Code>(status), "a member could not open the window");
  return all;
}

}  // namespace

Window::Window(Gpu& gpu, const BatonGroup& group, std::size_t bytes, std::uint64_t* parts) : gpu_(gpu) {
  try {
    open(group, bytes, parts);
  } catch (...) {
    if (own_ != 0) gpu_.shared().when_idle([own = own_] { Driver::get().free(own); });
    throw;
  }
}

Window::~Window() {
  gpu_.shared().when_idle([own = own_] { Driver::get().free(own); });
}

void Window::open(const BatonGroup& group, std::size_t bytes, std::uint64_t* parts) {
  SharedGpu& shared = gpu_.shared();
  Member mine{.process = ::getpid(), .ordinal = shared.ordinal(), .context = shared.context(), .part = 0};
  const std::vector<Member> members = together(group, mine, [&] {
    const Driver& driver = Driver::get();
    // Not of the pool: kernels of other GPUs reach all else.
    driver.check("allocating a window", driver.alloc(&own_, std::max<std::size_t>(bytes, 1)));
    gpu_.clear("clearing a window", own_, std::max<std::size_t>(bytes, 1));
    mine.part = own_;
  });
  static_cast<void>(together(group, mine, [&] {
    for (std::uint32_t rank = 0; rank < group.size; ++rank) {
      const Member& member = members[rank];
      if (member.process != mine.process) {
        throw Error(Code::unsupported,
                    fmt::format("rank {} is a chip of another process: windows of platform cuda are "
                                "of one process",
                                rank),
                    {"a Worker has its chips in one process"});
      }
      shared.reach(member.context, static_cast<int>(member.ordinal));
      parts[rank] = member.part;
    }
  }));
}

}  // namespace baton::cuda
