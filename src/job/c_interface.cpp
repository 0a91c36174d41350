// The C interface, over the same domains and windows as the C++ one.
#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include <baton/comm.h>

#include "base/fail.hpp"
#include "comm/context_table.hpp"
#include "comm/window_state.hpp"
#include "job/c_handle.hpp"
#include "job/connect.hpp"

namespace {

/// What a context stands for: a part of a window, as some of its ranks or all.
struct Given {
  std::shared_ptr<baton::comm::WindowState> window;
  std::vector<std::uint32_t> ranks;  // of the window, by rank of the context; empty: the same
  std::size_t offset = 0;
  std::size_t bytes = 0;
  std::vector<std::uint64_t> words = {};  // of the context, if it is derived
};

}  // namespace

struct CommHandle_ {
  std::shared_ptr<baton::comm::DomainState> domain;
  std::shared_ptr<baton::comm::WindowState> window;
  std::mutex mutex;
  /// By the address of their context. Guarded by mutex.
  std::map<std::uint64_t, Given> given;
};

namespace {

using baton::Code;
using baton::fail;
using baton::Situation;

thread_local std::string last_error;

/// Runs `body`; turns what it throws into a code and the message of this thread.
template <class Body>
int guarded(Body&& body) noexcept {
  try {
    body();
    return 0;
  } catch (const baton::Error& error) {
    last_error = error.what();
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    last_error = "out of memory";
    return static_cast<int>(Code::out_of_memory);
  } catch (const std::exception& error) {
    last_error = error.what();
    return static_cast<int>(Code::internal);
  }
}

template <class T>
void check_not_null(const char* function, const char* argument, const T* pointer) {
  if (pointer == nullptr) fail(Situation::null_pointer, "{}: {} is null", function, argument);
}

baton::comm::WindowState& window_of(const char* function, CommHandle handle) {
  check_not_null(function, "handle", handle);
  if (!handle->window) fail(Code::invalid_argument, "{}: comm_alloc_windows() was not called yet", function);
  return *handle->window;
}

/// Bytes of one rank's part.
struct Span {
  std::shared_ptr<baton::comm::WindowState> window;
  int rank;
  std::size_t offset;
};

/// `bytes` from `offset` on of what the context `ctx` has of `rank`.
Span span_of(const char* function, CommHandle handle, std::uint64_t ctx, std::uint32_t rank, std::size_t offset,
             std::size_t bytes) {
  check_not_null(function, "handle", handle);
  const std::lock_guard lock(handle->mutex);
  const auto found = handle->given.find(ctx);
  if (found == handle->given.end()) fail(Code::released, "{}: no live windows have the context {:#x}", function, ctx);
  const Given& given = found->second;
  const std::size_t ranks = given.ranks.empty() ? given.window->domain().size() : given.ranks.size();
  if (rank >= ranks) fail(Code::out_of_range, "{}: rank {} is outside 0..{}", function, rank, ranks - 1);
  if (bytes > given.bytes || offset > given.bytes - bytes) {
    fail(Code::out_of_range, "{}: {} bytes from offset {} are outside the {} bytes of the context", function, bytes,
         offset, given.bytes);
  }
  return {given.window, static_cast<int>(given.ranks.empty() ? rank : given.ranks[rank]), given.offset + offset};
}

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

/// The ranks of a subset, checked: in range, each once, the caller at `domain_rank`.
std::vector<std::uint32_t> check_subset(const char* function, CommHandle handle, const uint32_t* rank_ids, size_t n,
                                        uint32_t domain_rank) {
  check_not_null(function, "handle", handle);
  check_not_null(function, "rank_ids", rank_ids);
  const baton::comm::World& world = handle->domain->world();
  if (n == 0 || n > world.size()) {
    fail(Situation::ranks_impossible, "{}: {} members are not possible in a job of {} ranks", function, n,
         world.size());
  }
  std::vector<std::uint32_t> members(rank_ids, rank_ids + n);
  for (std::size_t i = 0; i < n; ++i) {
    if (members[i] >= world.size()) {
      fail(Code::out_of_range, "{}: rank_ids[{}] = {} is outside 0..{}", function, i, members[i], world.size() - 1);
    }
    if (std::find(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(i), members[i]) !=
        members.begin() + static_cast<std::ptrdiff_t>(i)) {
      fail(Situation::named_twice, "{}: rank {} is named twice in rank_ids", function, members[i]);
    }
  }
  if (domain_rank >= n) fail(Code::out_of_range, "{}: domain_rank {} is outside 0..{}", function, domain_rank, n - 1);
  if (members[domain_rank] != world.rank()) {
    fail(Code::not_a_member, "{}: rank_ids[{}] is {}, but the caller is rank {}", function, domain_rank,
         members[domain_rank], world.rank());
  }
  return members;
}

}  // namespace

CommHandle baton::job::make_handle(std::shared_ptr<comm::World> world) {
  auto made = std::make_unique<CommHandle_>();
  made->domain = comm::DomainState::of_world(std::move(world));
  return made.release();
}

extern "C" {

CommHandle comm_init(int rank, int nranks, void* /*stream*/, const char* rendezvous) {
  CommHandle handle = nullptr;
  guarded([&] {
    check_not_null("comm_init", "rendezvous", rendezvous);
    handle = baton::job::make_handle(baton::job::connect(rendezvous, rank, nranks, baton::options()));
  });
  return handle;
}

int comm_alloc_windows(CommHandle handle, size_t bytes, uint64_t* ctx_out) {
  return guarded([&] {
    check_not_null("comm_alloc_windows", "handle", handle);
    check_not_null("comm_alloc_windows", "ctx_out", ctx_out);
    if (handle->window) fail(Code::invalid_argument, "comm_alloc_windows: this handle has its windows already");
    handle->window = std::make_shared<baton::comm::WindowState>(handle->domain, "windows", bytes);
    *ctx_out = address_of(handle->window->context());
    const std::lock_guard lock(handle->mutex);
    handle->given.emplace(*ctx_out, Given{handle->window, {}, 0, bytes});
  });
}

int comm_get_local_window_base(CommHandle handle, uint64_t* base_out) {
  return guarded([&] {
    const baton::comm::WindowState& window = window_of("comm_get_local_window_base", handle);
    check_not_null("comm_get_local_window_base", "base_out", base_out);
    *base_out = address_of(window.part(static_cast<int>(handle->domain->rank())));
  });
}

int comm_get_window_size(CommHandle handle, size_t* bytes_out) {
  return guarded([&] {
    const baton::comm::WindowState& window = window_of("comm_get_window_size", handle);
    check_not_null("comm_get_window_size", "bytes_out", bytes_out);
    *bytes_out = window.bytes();
  });
}

int comm_derive_context(CommHandle handle, const uint32_t* rank_ids, size_t n, uint32_t domain_rank, size_t offset,
                        size_t bytes, uint64_t* ctx_out) {
  return guarded([&] {
    const char* function = "comm_derive_context";
    const baton::comm::WindowState& window = window_of(function, handle);
    check_not_null(function, "ctx_out", ctx_out);
    auto members = check_subset(function, handle, rank_ids, n, domain_rank);
    if (bytes > window.bytes() || offset > window.bytes() - bytes) {
      fail(Code::out_of_range, "{}: {} bytes from offset {} are outside the window of {} bytes", function, bytes,
           offset, window.bytes());
    }
    std::vector<std::uint64_t> windows;
    windows.reserve(members.size());
    for (const std::uint32_t member : members) windows.push_back(window.address_of(static_cast<int>(member)) + offset);
    auto context = baton::comm::make_context(domain_rank, bytes, windows);
    const std::uint64_t address = address_of(context.data());
    const std::lock_guard lock(handle->mutex);
    handle->given.emplace(address, Given{handle->window, std::move(members), offset, bytes, std::move(context)});
    *ctx_out = address;
  });
}

int comm_alloc_domain_windows(CommHandle handle, uint64_t id, const uint32_t* rank_ids, size_t n, uint32_t domain_rank,
                              size_t bytes, uint64_t* ctx_out, uint64_t* base_out) {
  return guarded([&] {
    const char* function = "comm_alloc_domain_windows";
    check_not_null(function, "ctx_out", ctx_out);
    check_not_null(function, "base_out", base_out);
    auto members = check_subset(function, handle, rank_ids, n, domain_rank);
    baton::comm::World& world = handle->domain->world();
    const std::uint64_t kind = baton::comm::hash_words(id, members);
    const std::uint64_t domain_id =
        baton::comm::hash_words(kind, {static_cast<std::uint32_t>(world.next_sequence(kind))});
    const std::string name = fmt::format("domain {}", id);
    auto domain =
        baton::comm::DomainState::of_subset(handle->domain->world_pointer(), name, std::move(members), domain_id);
    auto window = std::make_shared<baton::comm::WindowState>(domain, name, bytes);
    const std::uint64_t context = address_of(window->context());
    *base_out = address_of(window->part(static_cast<int>(domain_rank)));
    const std::lock_guard lock(handle->mutex);
    handle->given.emplace(context, Given{std::move(window), {}, 0, bytes});
    *ctx_out = context;
  });
}

int comm_release_domain_windows(CommHandle handle, uint64_t ctx) {
  return guarded([&] {
    check_not_null("comm_release_domain_windows", "handle", handle);
    const std::lock_guard lock(handle->mutex);
    const auto found = handle->given.find(ctx);
    if (found == handle->given.end() || found->second.window == handle->window) {
      fail(Code::released, "comm_release_domain_windows: no live windows have the context {:#x}", ctx);
    }
    handle->given.erase(found);
  });
}

int comm_put(CommHandle handle, uint64_t ctx, uint32_t rank, size_t offset, const void* source, size_t bytes) {
  return guarded([&] {
    const Span to = span_of("comm_put", handle, ctx, rank, offset, bytes);
    if (bytes != 0) check_not_null("comm_put", "source", source);
    to.window->put(to.rank, to.offset, source, bytes, {});
  });
}

int comm_get(CommHandle handle, uint64_t ctx, uint32_t rank, size_t offset, void* target, size_t bytes) {
  return guarded([&] {
    const Span from = span_of("comm_get", handle, ctx, rank, offset, bytes);
    if (bytes != 0) check_not_null("comm_get", "target", target);
    from.window->get(from.rank, from.offset, target, bytes, {});
  });
}

int comm_notify(CommHandle handle, uint64_t ctx, uint32_t rank, size_t offset, int32_t value) {
  return guarded([&] {
    const Span to = span_of("comm_notify", handle, ctx, rank, offset, sizeof value);
    to.window->notify(to.rank, to.offset, value, baton::NotifyOp::add, {});
  });
}

int comm_wait(CommHandle handle, uint64_t ctx, uint32_t rank, size_t offset, int32_t value) {
  return guarded([&] {
    const Span at = span_of("comm_wait", handle, ctx, rank, offset, sizeof value);
    at.window->wait(at.rank, at.offset, baton::WaitCmp::ge, value, handle->domain->world().wait_timeout(), {});
  });
}

int comm_barrier(CommHandle handle) {
  return guarded([&] {
    check_not_null("comm_barrier", "handle", handle);
    handle->domain->barrier(handle->domain->world().wait_timeout());
  });
}

int comm_destroy(CommHandle handle) {
  return guarded([&] {
    check_not_null("comm_destroy", "handle", handle);
    delete handle;
  });
}

const char* comm_last_error(void) { return last_error.c_str(); }

}  // extern "C"
