// The C interface: the same communication, with codes instead of exceptions.
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <baton/comm.h>
#include <baton/error.hpp>

#include "job/c_handle.hpp"
#include "support/rank_program.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "support/scenario.hpp"

namespace {

using baton::Code;
using baton::test::Hosting;

const baton::test::Wishes kWishes = {.sizes = {4}, .hostings = {Hosting::threads, Hosting::processes, Hosting::hosts}};

void require_ok(int code) {
  if (code != 0) throw baton::test::CheckFailed("a call failed: " + std::string(comm_last_error()));
}

void require_code(Code expected, std::string_view part, int code) {
  REQUIRE_EQUAL(code, static_cast<int>(expected));
  if (std::string_view(comm_last_error()).find(part) == std::string_view::npos) {
    throw baton::test::CheckFailed("the message lacks \"" + std::string(part) + "\": " + comm_last_error());
  }
}

/// A handle that is destroyed even when a check fails, so that the other ranks learn of it.
class Handle {
 public:
  explicit Handle(const baton::test::Newcomer& place)
      : handle_(baton::test::is_on_hosts() ? baton::job::make_handle(baton::test::connect_on_hosts(place))
                                           : comm_init(place.rank, place.size, nullptr, place.rendezvous.c_str())) {
    if (handle_ == nullptr) throw baton::test::CheckFailed(comm_last_error());
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (handle_ != nullptr) comm_destroy(handle_);
  }
  operator CommHandle() const noexcept { return handle_; }
  CommHandle release() noexcept { return std::exchange(handle_, nullptr); }

 private:
  CommHandle handle_;
};

const CommContext& context_at(std::uint64_t address) { return *reinterpret_cast<const CommContext*>(address); }
std::uint32_t* words_at(std::uint64_t address) { return reinterpret_cast<std::uint32_t*>(address); }

/// A word of somebody's window: at its address, where all windows can be reached.
void write_word(CommHandle handle, std::uint64_t context, std::uint32_t rank, std::size_t index, std::uint32_t value) {
  if (baton::test::is_on_hosts()) {
    require_ok(comm_put(handle, context, rank, index * sizeof value, &value, sizeof value));
  } else {
    words_at(context_at(context).windowsIn[rank])[index] = value;
  }
}

}  // namespace

SCENARIO_BEFORE_JOIN(CWindows, kWishes) {
  Handle handle(me);
  // Works before any window exists.
  for (int i = 0; i < 10; ++i) require_ok(comm_barrier(handle));
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  require_code(Code::invalid_argument, "comm_alloc_windows() was not called yet",
               comm_get_local_window_base(handle, &address));
  require_code(Code::invalid_argument, "comm_alloc_windows() was not called yet", comm_get_window_size(handle, &bytes));
  require_ok(comm_alloc_windows(handle, 4000, &address));
  const CommContext& context = context_at(address);
  REQUIRE_EQUAL(context.rankId, static_cast<std::uint32_t>(me.rank));
  REQUIRE_EQUAL(context.rankNum, 4U);
  REQUIRE_EQUAL(context.winSize, 4000U);
  std::uint64_t base = 0;
  require_ok(comm_get_local_window_base(handle, &base));
  require_ok(comm_get_window_size(handle, &bytes));
  REQUIRE_EQUAL(bytes, 4000U);
  REQUIRE_EQUAL(base, context.windowsIn[me.rank]);
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    write_word(handle, address, rank, context.rankId, rank * 10 + context.rankId);
  require_ok(comm_barrier(handle));
  for (std::uint32_t rank = 0; rank < 4; ++rank) REQUIRE_EQUAL(words_at(base)[rank], context.rankId * 10 + rank);
  require_ok(comm_barrier(handle));
  require_code(Code::invalid_argument, "has its windows already", comm_alloc_windows(handle, 64, &address));
  require_ok(comm_barrier(handle));
  require_ok(comm_destroy(handle.release()));
}

SCENARIO_BEFORE_JOIN(CDerivedContexts, kWishes) {
  Handle handle(me);
  std::uint64_t address = 0;
  const std::uint32_t backwards[4] = {3, 2, 1, 0};
  const auto mine = static_cast<std::uint32_t>(3 - me.rank);
  require_code(Code::invalid_argument, "comm_alloc_windows() was not called yet",
               comm_derive_context(handle, backwards, 4, mine, 0, 64, &address));
  require_ok(comm_alloc_windows(handle, 1024, &address));
  const CommContext& whole = context_at(address);
  std::uint64_t derived = 0;
  require_ok(comm_derive_context(handle, backwards, 4, mine, 256, 512, &derived));
  const CommContext& context = context_at(derived);
  REQUIRE_EQUAL(context.rankId, mine);
  REQUIRE_EQUAL(context.rankNum, 4U);
  REQUIRE_EQUAL(context.winSize, 512U);
  for (std::size_t rank = 0; rank < 4; ++rank) REQUIRE_EQUAL(context.windowsIn[rank], whole.windowsIn[3 - rank] + 256);

  const auto derive = [&](std::vector<std::uint32_t> ranks, std::uint32_t domain_rank, std::size_t offset,
                          std::size_t bytes) {
    return comm_derive_context(handle, ranks.data(), ranks.size(), domain_rank, offset, bytes, &derived);
  };
  require_ok(derive({3, 2, 1, 0}, mine, 0, 1024));
  require_ok(derive({3, 2, 1, 0}, mine, 1024, 0));
  require_code(Code::out_of_range, "1025 bytes from offset 0", derive({3, 2, 1, 0}, mine, 0, 1025));
  require_code(Code::out_of_range, "window of 1024 bytes", derive({3, 2, 1, 0}, mine, SIZE_MAX, 2));
  require_code(Code::out_of_range, "window of 1024 bytes", derive({3, 2, 1, 0}, mine, 1000, SIZE_MAX));
  require_code(Code::out_of_range, "domain_rank 4 is outside 0..3", derive({3, 2, 1, 0}, 4, 0, 8));
  require_code(Code::out_of_range, "rank_ids[1] = 4 is outside 0..3", derive({0, 4}, 0, 0, 8));
  require_code(Code::invalid_argument, "rank 1 is named twice", derive({0, 1, 1}, 0, 0, 8));
  require_code(Code::invalid_argument, "5 members", derive({0, 1, 2, 3, 0}, 0, 0, 8));
  require_code(Code::not_a_member, "but the caller is rank " + std::to_string(me.rank),
               derive({static_cast<std::uint32_t>((me.rank + 1) % 4)}, 0, 0, 8));
  require_code(Code::invalid_argument, "0 members", comm_derive_context(handle, backwards, 0, 0, 0, 8, &derived));
  require_code(Code::invalid_argument, "rank_ids is null", comm_derive_context(handle, nullptr, 1, 0, 0, 8, &derived));
  require_code(Code::invalid_argument, "ctx_out is null",
               comm_derive_context(handle, backwards, 4, mine, 0, 8, nullptr));
  require_ok(comm_barrier(handle));
  require_ok(comm_destroy(handle.release()));
}

SCENARIO_BEFORE_JOIN(CDomainWindows, kWishes) {
  Handle handle(me);
  const std::uint32_t evens[2] = {2, 0};
  const std::uint32_t all[4] = {1, 0, 3, 2};
  const auto in_all = static_cast<std::uint32_t>(me.rank ^ 1);
  struct Live {
    std::uint64_t context;
    std::uint64_t base;
  };
  const auto allocate = [&](std::uint64_t id, const std::uint32_t* ranks, std::size_t n, std::uint32_t rank,
                            std::size_t bytes) {
    Live live{};
    require_ok(comm_alloc_domain_windows(handle, id, ranks, n, rank, bytes, &live.context, &live.base));
    REQUIRE_EQUAL(live.base, context_at(live.context).windowsIn[rank]);
    return live;
  };
  for (int round = 0; round < baton::test::scaled(50); ++round) {
    // Three alive at once, two of them of the same ranks and one with the same number.
    const Live first = allocate(7, all, 4, in_all, 64);
    const Live second = allocate(8, all, 4, in_all, 128);
    Live pair{};
    if (me.rank % 2 == 0) pair = allocate(7, evens, 2, me.rank == 2 ? 0 : 1, 32);
    for (std::uint32_t peer = 0; peer < 4; ++peer) {
      write_word(handle, first.context, peer, in_all, 100 + in_all);
      write_word(handle, second.context, peer, in_all, 200 + in_all);
    }
    require_ok(comm_barrier(handle));
    for (std::uint32_t peer = 0; peer < 4; ++peer) {
      REQUIRE_EQUAL(words_at(first.base)[peer], 100 + peer);
      REQUIRE_EQUAL(words_at(second.base)[peer], 200 + peer);
    }
    if (me.rank % 2 == 0) {
      REQUIRE_EQUAL(words_at(pair.base)[0], 0U);
      require_ok(comm_release_domain_windows(handle, pair.context));
    }
    require_ok(comm_release_domain_windows(handle, first.context));
    require_code(Code::released, "comm_release_domain_windows", comm_release_domain_windows(handle, first.context));
    // The other one is not touched by that.
    REQUIRE_EQUAL(words_at(second.base)[3], 203U);
    require_ok(comm_release_domain_windows(handle, second.context));
  }
  std::uint64_t out = 0;
  require_code(Code::not_a_member, "caller is rank",
               comm_alloc_domain_windows(handle, 1, all, 4, static_cast<std::uint32_t>(me.rank), 8, &out, &out));
  require_code(Code::invalid_argument, "base_out is null",
               comm_alloc_domain_windows(handle, 1, all, 4, in_all, 8, &out, nullptr));
  require_code(Code::invalid_argument, "ctx_out is null",
               comm_alloc_domain_windows(handle, 1, all, 4, in_all, 8, nullptr, &out));
  require_code(Code::out_of_memory, "domain 5",
               comm_alloc_domain_windows(handle, 5, all, 4, in_all, std::size_t{1} << 42U, &out, &out));
  require_code(Code::mismatch, "disagree",
               comm_alloc_domain_windows(handle, 6, all, 4, in_all, me.rank == 0 ? 8 : 16, &out, &out));
  require_ok(comm_barrier(handle));
  require_ok(comm_destroy(handle.release()));
}

SCENARIO_BEFORE_JOIN(CPutsAndSignals, kWishes) {
  Handle handle(me);
  std::uint64_t whole = 0;
  std::uint64_t base = 0;
  require_ok(comm_alloc_windows(handle, 1024, &whole));
  require_ok(comm_get_local_window_base(handle, &base));
  // Backwards, in the second half: a signal, then room for who puts.
  const std::uint32_t backwards[4] = {3, 2, 1, 0};
  const auto mine = static_cast<std::uint32_t>(3 - me.rank);
  std::uint64_t context = 0;
  require_ok(comm_derive_context(handle, backwards, 4, mine, 512, 512, &context));
  const std::uint32_t next = (mine + 1) % 4;
  const std::uint32_t previous = (mine + 3) % 4;
  for (std::int32_t round = 1; round <= 20; ++round) {
    const std::uint32_t said[2] = {mine, static_cast<std::uint32_t>(round)};
    require_ok(comm_put(handle, context, next, 8, said, sizeof said));
    require_ok(comm_notify(handle, context, next, 0, 1));
    require_ok(comm_wait(handle, context, mine, 0, round));
    REQUIRE_EQUAL(words_at(base)[128 + 2], previous);
    REQUIRE_EQUAL(words_at(base)[128 + 3], static_cast<std::uint32_t>(round));
    std::uint32_t fetched[2] = {};
    require_ok(comm_get(handle, context, next, 8, fetched, sizeof fetched));
    REQUIRE_EQUAL(fetched[0], mine);
    REQUIRE_EQUAL(fetched[1], static_cast<std::uint32_t>(round));
    // The same bytes by the whole window's context.
    require_ok(comm_get(handle, whole, backwards[next], 512 + 8, fetched, sizeof fetched));
    REQUIRE_EQUAL(fetched[0], mine);
    require_ok(comm_barrier(handle));
  }
  std::uint32_t word = 0;
  require_ok(comm_put(handle, context, next, 512, nullptr, 0));
  require_code(Code::out_of_range, "4 bytes from offset 509", comm_put(handle, context, next, 509, &word, 4));
  require_code(Code::out_of_range, "512 bytes of the context", comm_get(handle, context, next, SIZE_MAX, &word, 4));
  require_code(Code::out_of_range, "rank 4 is outside 0..3", comm_put(handle, context, 4, 0, &word, 4));
  require_code(Code::invalid_argument, "source is null", comm_put(handle, context, next, 0, nullptr, 4));
  require_code(Code::invalid_argument, "target is null", comm_get(handle, context, next, 0, nullptr, 4));
  require_code(Code::misaligned, "multiple of 4", comm_notify(handle, context, next, 2, 1));
  require_code(Code::out_of_range, "outside the 512 bytes", comm_wait(handle, context, mine, 510, 1));
  require_code(Code::released, "no live windows", comm_put(handle, 4711, next, 0, &word, 4));
  require_ok(comm_barrier(handle));
  require_ok(comm_destroy(handle.release()));
}

SCENARIO_BEFORE_JOIN(CDestroyWithEverythingAlive, kWishes) {
  for (int round = 0; round < 3; ++round) {
    baton::test::Newcomer place = me;
    place.rendezvous += "." + std::to_string(round);
    Handle handle(place);
    const std::uint32_t all[4] = {0, 1, 2, 3};
    const auto rank = static_cast<std::uint32_t>(me.rank);
    std::uint64_t out = 0;
    require_ok(comm_alloc_windows(handle, 100, &out));
    require_ok(comm_derive_context(handle, all, 4, rank, 0, 50, &out));
    require_ok(comm_alloc_domain_windows(handle, 1, all, 4, rank, 64, &out, &out));
    require_ok(comm_alloc_domain_windows(handle, 2, all, 4, rank, 64, &out, &out));
    require_ok(comm_destroy(handle.release()));
  }
}

SCENARIO_BEFORE_JOIN(CErrorsOfOthersAreCodes, kWishes) {
  Handle handle(me);
  require_ok(comm_barrier(handle));
  if (me.rank != 3) {
    // Others may have left by now, too.
    require_code(Code::peer_left, "rank 3", comm_barrier(handle));
    std::uint64_t out = 0;
    require_code(Code::peer_left, "rank 3", comm_alloc_windows(handle, 8, &out));
    REQUIRE_EQUAL(out, 0U);
  }
  require_ok(comm_destroy(handle.release()));
}
