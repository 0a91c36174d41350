// The structs that cross a process, byte by byte. A change here is a change of kControlVersion.
#include <cstddef>
#include <type_traits>

#include "wire/barrier_words.hpp"
#include "wire/control.hpp"

using namespace baton;
using namespace baton::wire;

static_assert(kControlVersion == 9);
static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint64_t>) == 8 && std::atomic<std::uint64_t>::is_always_lock_free);

static_assert(sizeof(Doorbell) == 8 && alignof(Doorbell) == 4);
static_assert(std::is_standard_layout_v<Doorbell>);

static_assert(sizeof(BarrierWords) == 128 && alignof(BarrierWords) == 64);
static_assert(offsetof(BarrierWords, arrived) == 0);
static_assert(offsetof(BarrierWords, released) == 64);

static_assert(sizeof(SharedName) == 48);

static_assert(sizeof(WaitRecord) == 360);
static_assert(offsetof(WaitRecord, version) == 0);
static_assert(offsetof(WaitRecord, operation) == 4);
static_assert(offsetof(WaitRecord, since_ns) == 8);
static_assert(offsetof(WaitRecord, index) == 16);
static_assert(offsetof(WaitRecord, comparison) == 24);
static_assert(offsetof(WaitRecord, needs) == 28);
static_assert(offsetof(WaitRecord, object) == 32);
static_assert(offsetof(WaitRecord, traits) == 80);
static_assert(offsetof(WaitRecord, domain) == 88);
static_assert(offsetof(WaitRecord, actor) == 136);
static_assert(offsetof(WaitRecord, members) == 232);

static_assert(sizeof(KernelRecord) == 240);
static_assert(offsetof(KernelRecord, since_ns) == 8);
static_assert(offsetof(KernelRecord, what) == 16);
static_assert(offsetof(KernelRecord, where) == 112);

static_assert(sizeof(NotifyRecord) == 24);
static_assert(offsetof(NotifyRecord, window) == 0);
static_assert(offsetof(NotifyRecord, target) == 8);
static_assert(offsetof(NotifyRecord, index) == 12);
static_assert(offsetof(NotifyRecord, when) == 16);

static_assert(sizeof(RankBlock) == 3648 && offsetof(RankBlock, reason) == 3328 &&
              offsetof(RankBlock, arrivals) == 2688 && alignof(RankBlock) == 64);
static_assert(offsetof(RankBlock, host) == 3584 && offsetof(RankBlock, posts) == 3632);
static_assert(offsetof(RankBlock, doorbell) == 0);
static_assert(offsetof(RankBlock, state) == 64);
static_assert(offsetof(RankBlock, pid) == 68);
static_assert(offsetof(RankBlock, start_time) == 72);
static_assert(offsetof(RankBlock, end) == 80);
static_assert(offsetof(RankBlock, ended_ns) == 88);
static_assert(offsetof(RankBlock, activity) == 128);
static_assert(offsetof(RankBlock, activity_peer) == 132);
static_assert(offsetof(RankBlock, barrier_epoch) == 136);
static_assert(offsetof(RankBlock, last_notify) == 144);
static_assert(offsetof(RankBlock, waits) == 168);
static_assert(offsetof(RankBlock, unlisted_waits) == 1608);
static_assert(offsetof(RankBlock, unlisted_impatient) == 1612);
static_assert(offsetof(RankBlock, far_sent) == 1616 && offsetof(RankBlock, far_done) == 1624);
static_assert(offsetof(RankBlock, kernels) == 1664);
static_assert(offsetof(RankBlock, unlisted_kernels) == 2624);

static_assert(sizeof(ControlHeader) == 384 && alignof(ControlHeader) == 64);
static_assert(offsetof(ControlHeader, magic) == 0);
static_assert(offsetof(ControlHeader, version) == 8);
static_assert(offsetof(ControlHeader, rank_count) == 12);
static_assert(offsetof(ControlHeader, bytes) == 16);
static_assert(offsetof(ControlHeader, created_ns) == 24);
static_assert(offsetof(ControlHeader, token) == 32);
static_assert(offsetof(ControlHeader, in_process) == 48);
static_assert(offsetof(ControlHeader, one_doorbell) == 52);
static_assert(offsetof(ControlHeader, event_areas) == 56);
static_assert(offsetof(ControlHeader, ranks_here) == 60);
static_assert(offsetof(ControlHeader, changes) == 64);
static_assert(offsetof(ControlHeader, window_bytes) == 72);
static_assert(offsetof(ControlHeader, told_ns) == 80);
static_assert(offsetof(ControlHeader, told_waits) == 88);
static_assert(offsetof(ControlHeader, looker) == 96);
static_assert(offsetof(ControlHeader, name) == 128);
static_assert(offsetof(ControlHeader, doorbell) == 192);
static_assert(offsetof(ControlHeader, barrier) == 256);
static_assert(offsetof(EventRecord, kind) == 16 && offsetof(EventRecord, outcome) == 17 &&
              offsetof(EventRecord, lane) == 18);
static_assert(offsetof(EventRecord, rank) == 20 && offsetof(EventRecord, object) == 24 &&
              offsetof(EventRecord, place) == 28);
static_assert(offsetof(EventRecord, a) == 32 && offsetof(EventRecord, d) == 56);
static_assert(offsetof(EventArea, text_header) == 64 && offsetof(EventArea, rings) == 64 + 16384);
static_assert(offsetof(EventRing, written) == 0 && offsetof(EventRing, claimed) == 8);
static_assert(sizeof(EventArea) == 64 + 16384 + 4 * 65600);
static_assert(control_bytes(3, 0) == 384 + 3 * 3648);
static_assert(control_bytes(3, 3) == 384 + 3 * (3648 + sizeof(EventArea)));

static_assert(static_cast<int>(RankState::absent) == 0 && static_cast<int>(RankState::dead) == 3);
static_assert(static_cast<int>(EndKind::unknown) == 0 && static_cast<int>(EndKind::error) == 3);
static_assert(static_cast<int>(Operation::none) == 0 && static_cast<int>(kLastOperation) == 11);
