#include "test_core.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>

namespace baton::test {

namespace {

thread_local BatonCore* current = nullptr;

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kOpenCopies = 64;

std::string text_of(const BatonFailure& failure) {
  return std::string(failure.place->instruction) + ": " + failure.text;
}

const BatonPlace kEndOfKernel{"end of kernel", "", 0, 0};

}  // namespace

KernelFailure::KernelFailure(const BatonFailure& failure)
    : std::runtime_error(text_of(failure)),
      code(failure.code),
      instruction(failure.place->instruction),
      file(failure.place->file),
      line(failure.place->line) {}

TestCore::TestCore(SignalBoard* board, const CoreBytes& bytes) : BatonCore{}, board_(board), outer_(current) {
  version = BATON_CORE_VERSION;
  watches = 0;
  table = &functions();
  const std::size_t sizes[BATON_CORE_BUFFERS] = {bytes.vec, bytes.mat,  bytes.left, bytes.right,
                                                 bytes.acc, bytes.bias, 0};
  for (std::size_t i = 0; i < BATON_CORE_BUFFERS; ++i) {
    memory_.emplace_back(sizes[i] + kAlignment, static_cast<unsigned char>(0xee));
    auto* begin = memory_.back().data();
    const std::size_t shift = kAlignment - reinterpret_cast<std::uintptr_t>(begin) % kAlignment;
    buffers[i] = {begin + shift, sizes[i]};
  }
  current = this;
}

TestCore::~TestCore() { current = outer_; }

void TestCore::allow(const std::string& name, const void* begin, std::size_t bytes) {
  regions_.push_back({name, reinterpret_cast<std::uintptr_t>(begin), bytes});
}

void TestCore::watch() { watches |= BATON_WATCH_ISSUE; }

void TestCore::fail(std::int32_t code, const BatonPlace* place, const std::string& text) {
  throw KernelFailure(BatonFailure{code, 0, place, text.c_str()});
}

void TestCore::finish() {
  if (!flags_.empty()) fail(BATON_KERNEL_LEFT_OPEN, &kEndOfKernel, "a flag is set that nobody waited for");
  if (!unawaited_.empty()) fail(BATON_KERNEL_LEFT_OPEN, &kEndOfKernel, "an asynchronous copy was not awaited");
}

bool TestCore::address_known(std::uintptr_t begin, std::uint64_t bytes) const {
  for (const Region& region : regions_) {
    if (begin >= region.begin && bytes <= region.bytes && begin - region.begin <= region.bytes - bytes) return true;
  }
  return regions_.empty();
}

bool TestCore::signal_holds(const std::int32_t* signal, std::int32_t value, std::uint32_t comparison) const {
  // Pairs with the release in notify().
  const std::int32_t now = __atomic_load_n(signal, __ATOMIC_ACQUIRE);
  const bool results[] = {now == value, now != value, now > value, now >= value, now < value, now <= value};
  return results[comparison];
}

void TestCore::notify(std::int32_t* signal, std::int32_t value, std::uint32_t op) {
  const auto change = [&] {
    // Pairs with the acquire in signal_holds().
    if (op == 0) {
      __atomic_fetch_add(signal, value, __ATOMIC_RELEASE);
    } else {
      __atomic_store_n(signal, value, __ATOMIC_RELEASE);
    }
  };
  if (board_ == nullptr) return change();
  {
    const std::lock_guard lock(board_->mutex);
    change();
  }
  board_->changed.notify_all();
}

void TestCore::wait(const std::int32_t* signal, std::int32_t value, std::uint32_t comparison, const BatonPlace* place) {
  const auto holds = [&] { return signal_holds(signal, value, comparison); };
  bool done = false;
  if (board_ == nullptr) {
    done = holds();
  } else {
    std::unique_lock lock(board_->mutex);
    done = board_->changed.wait_for(lock, std::chrono::seconds(30), holds);
  }
  if (!done) fail(BATON_KERNEL_WAIT_TIMEOUT, place, "the signal does not compare so");
}

void TestCore::advance_copies() {
  if (copies_.empty()) return;
  const Copy copy = copies_.front();
  copies_.pop_front();
  std::memmove(copy.request.destination, copy.request.source, copy.request.bytes);
  if (copy.request.signal != nullptr) notify(copy.request.signal, copy.request.signal_value, copy.request.signal_op);
  *copy.record = 1;
}

void TestCore::settle(std::uint64_t record) {
  const auto here =
      std::find_if(unawaited_.begin(), unawaited_.end(), [&](const auto& event) { return event.record == record; });
  if (here == unawaited_.end()) return;
  const std::uint64_t session = here->session;
  const auto last =
      std::remove_if(unawaited_.begin(), here + 1, [&](const auto& event) { return event.session == session; });
  unawaited_.erase(last, here + 1);
}

const BatonCoreTable& TestCore::functions() {
  static const BatonCoreTable table = {
      .fail = [](BatonCore*, const BatonFailure* failure) { throw KernelFailure(*failure); },
      .address_known = [](BatonCore* core, const void* begin, std::uint64_t bytes, char* nearest,
                          std::uint64_t nearest_bytes) -> std::int32_t {
        const TestCore& me = self(core);
        if (me.address_known(reinterpret_cast<std::uintptr_t>(begin), bytes)) return 1;
        if (nearest_bytes > 0) {
          const std::string& name = me.regions_.front().name;
          nearest[name.copy(nearest, nearest_bytes - 1)] = '\0';
        }
        return 0;
      },
      .issue =
          [](BatonCore* core, const BatonIssue* issue) {
            self(core).issued_.push_back({issue->place->instruction,
                                          issue->pipes,
                                          {issue->tiles, issue->tiles + issue->tile_count},
                                          {issue->globals, issue->globals + issue->global_count}});
          },
      .set_flag =
          [](BatonCore* core, std::uint32_t producer, std::uint32_t consumer, std::int32_t id,
             const BatonPlace* place) {
            if (!self(core).flags_.insert({producer, consumer, id}).second) {
              fail(BATON_KERNEL_PIPE_ORDER, place, "the flag is set already");
            }
          },
      .wait_flag =
          [](BatonCore* core, std::uint32_t producer, std::uint32_t consumer, std::int32_t id,
             const BatonPlace* place) {
            if (self(core).flags_.erase({producer, consumer, id}) == 0) {
              fail(BATON_KERNEL_PIPE_ORDER, place, "the flag was not set");
            }
          },
      .pipe_barrier = [](BatonCore*, std::uint32_t, const BatonPlace*) {},
      .cache_line = [](BatonCore*, const volatile void*, std::int32_t, std::int32_t) {},
      .memory_barrier = [](BatonCore*, std::int32_t) { __sync_synchronize(); },
      .yield = [](BatonCore*) {},
      .notify = [](BatonCore* core, std::int32_t* signal, std::int32_t value, std::uint32_t op,
                   const BatonPlace*) { self(core).notify(signal, value, op); },
      .test = [](BatonCore* core, const std::int32_t* signal, std::int32_t value, std::uint32_t comparison,
                 const BatonPlace*) -> std::int32_t { return self(core).signal_holds(signal, value, comparison); },
      .wait = [](BatonCore* core, const std::int32_t* signal, std::int32_t value, std::uint32_t comparison,
                 const BatonPlace* place) { self(core).wait(signal, value, comparison, place); },
      .session_open = [](BatonCore* core, const BatonSession* session, const BatonPlace*) -> std::uint64_t {
        return session->engine <= 1 ? ++self(core).sessions_ : 0;
      },
      .copy_submit = [](BatonCore* core, const BatonCopy* copy, const BatonPlace* place) -> std::uint64_t {
        TestCore& me = self(core);
        if (me.copies_.size() >= kOpenCopies) fail(BATON_KERNEL_OUT_OF_RANGE, place, "64 copies are open");
        me.records_.push_back(std::make_unique<std::uint64_t>(0));
        std::uint64_t* record = me.records_.back().get();
        me.copies_.push_back({*copy, record});
        const auto handle = reinterpret_cast<std::uintptr_t>(record);
        me.unawaited_.push_back({handle, copy->session});
        return handle;
      },
      .copy_test = [](BatonCore* core, std::uint64_t, std::uint64_t record, const BatonPlace*) -> std::int32_t {
        TestCore& me = self(core);
        if (*reinterpret_cast<std::uint64_t*>(record) == 0) {
          me.advance_copies();
          return 0;
        }
        me.settle(record);
        return 1;
      },
      .copy_wait =
          [](BatonCore* core, std::uint64_t, std::uint64_t record, const BatonPlace*) {
            TestCore& me = self(core);
            while (*reinterpret_cast<std::uint64_t*>(record) == 0) me.advance_copies();
            me.settle(record);
          },
      .copy_defer = [](BatonCore* core, std::uint64_t record) { self(core).settle(record); },
      // A core by itself has no peers.
      .pipe_acquire = [](BatonCore*, const BatonPipeSlot*, const BatonPlace* place) -> std::int32_t {
        fail(BATON_KERNEL_INVALID_ARGUMENT, place, "this kernel runs alone");
      },
      .pipe_release = [](BatonCore*, const BatonPipeSlot*, const BatonPlace*) {},
      .pipe_peer = [](BatonCore*, std::uint32_t, std::uint32_t, const BatonPlace*) -> const BatonBuffer* {
        return nullptr;
      },
      .print = [](BatonCore* core, std::uint32_t, const char* text,
                  std::uint64_t bytes) { self(core).printed_.append(text, bytes); },
      .dump = [](BatonCore*, const BatonDump*, const BatonPlace*) {},
      // Nor memory on other hosts.
      .far_begin = [](BatonCore*, const BatonGlobalRange*, const BatonPlace*) -> void* { return nullptr; },
      .far_end = [](BatonCore*, const BatonGlobalRange*, const void*, const BatonPlace*) {},
      .far_scatter = [](BatonCore*, const BatonScatter*, const BatonPlace*) {},
      .leaving = [](BatonCore*, std::uint32_t, const char*, const void*) {},
  };
  return table;
}

}  // namespace baton::test

extern "C" BatonCore* baton_core_current() {
  if (baton::test::current == nullptr) throw std::logic_error("no TestCore on this thread");
  return baton::test::current;
}
