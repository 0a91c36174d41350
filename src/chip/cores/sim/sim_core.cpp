#include "chip/cores/sim/sim_core.hpp"

#include <algorithm>
#include <cstring>

#include <intrinsic.h>

#include "base/fail.hpp"
#include "base/fiber.hpp"

namespace baton::chip {

std::string describe(const CorePlace& place) {
  if (place.type == CoreType::cube) return fmt::format("cube core {}", place.cluster);
  return fmt::format("vector core {}.{}", place.cluster, place.sub_block);
}

namespace {

WaitCmp comparison_of(std::uint32_t number) { return static_cast<WaitCmp>(std::min<std::uint32_t>(number, 5)); }

/// "TADD at scale.cpp:12"
std::string describe_place(const BatonPlace* place) {
  if (place == nullptr) return "an instruction";
  if (place->line == 0) return place->instruction;
  return fmt::format("{} at {}:{}", place->instruction, place->file, place->line);
}

}  // namespace

/// The functions of the table. Each finds its core behind the BatonCore it is given.
struct CoreFunctions {
  static SimCore& self(BatonCore* core) { return *static_cast<SimCore*>(core); }

  static void fail(BatonCore* core, const BatonFailure* failure) {
    self(core).fail(failure->code, failure->place, failure->text);
  }

  static std::int32_t address_known(BatonCore* core, const void* begin, std::uint64_t bytes, char* nearest,
                                    std::uint64_t nearest_bytes) {
    const GlobalMemory& memory = self(core).memory_;
    if (memory.known(begin, bytes)) return 1;
    if (nearest_bytes != 0) {
      const std::string text = memory.describe_nearest(begin);
      const std::size_t length = std::min<std::size_t>(text.size(), nearest_bytes - 1);
      std::memcpy(nearest, text.data(), length);
      nearest[length] = '\0';
    }
    return 0;
  }

  static void issue(BatonCore* /*core*/, const BatonIssue* /*issue*/) {}

  static void set_flag(BatonCore* core, std::uint32_t producer, std::uint32_t consumer, std::int32_t id,
                       const BatonPlace* place) {
    if (const auto wrong = self(core).flags_.set(producer, consumer, id, *place)) {
      self(core).fail(BATON_KERNEL_PIPE_ORDER, place, *wrong);
    }
  }

  static void wait_flag(BatonCore* core, std::uint32_t producer, std::uint32_t consumer, std::int32_t id,
                        const BatonPlace* place) {
    if (const auto wrong = self(core).flags_.wait(producer, consumer, id)) {
      self(core).fail(BATON_KERNEL_PIPE_ORDER, place, *wrong);
    }
  }

  // In program order, barriers between pipes and memory barriers have nothing left to do.
  static void pipe_barrier(BatonCore* /*core*/, std::uint32_t /*pipe*/, const BatonPlace* /*place*/) {}
  static void memory_barrier(BatonCore* /*core*/, std::int32_t /*kind*/) {}

  // A kernel that polls memory calls this in its loop: others of its thread must be able to run.
  static void cache_line(BatonCore* core, const volatile void* /*address*/, std::int32_t /*extent*/,
                         std::int32_t /*destination*/) {
    yield(core);
  }
  static void yield(BatonCore* /*core*/) {
    if (on_fiber()) yield_fiber();
  }

  static void notify(BatonCore* core, std::int32_t* signal, std::int32_t value, std::uint32_t op,
                     const BatonPlace* place) {
    attributed(core, place, [&] { self(core).memory_.notify(signal, value, op == 0 ? NotifyOp::add : NotifyOp::set); });
  }

  static std::int32_t test(BatonCore* core, const std::int32_t* signal, std::int32_t value, std::uint32_t comparison,
                           const BatonPlace* place) {
    bool held = false;
    attributed(core, place, [&] { held = self(core).memory_.test(signal, comparison_of(comparison), value); });
    // A kernel that tests in a loop must let the one it waits for run.
    if (!held) yield(core);
    return held ? 1 : 0;
  }

  static void wait(BatonCore* core, const std::int32_t* signal, std::int32_t value, std::uint32_t comparison,
                   const BatonPlace* place) {
    attributed(core, place, [&] { self(core).memory_.wait(signal, comparison_of(comparison), value); });
  }

  static std::uint64_t session_open(BatonCore* core, const BatonSession* /*session*/, const BatonPlace* /*place*/) {
    return self(core).dma_.open_session();
  }

  static std::uint64_t copy_submit(BatonCore* core, const BatonCopy* copy, const BatonPlace* place) {
    const std::uint64_t record = self(core).dma_.submit(*copy);
    self(core).copies_[record] = {*place};
    return record;
  }

  static SimCore::SubmittedCopy& submitted(BatonCore* core, std::uint64_t record, const BatonPlace* place) {
    const auto found = self(core).copies_.find(record);
    if (found == self(core).copies_.end()) {
      self(core).fail(BATON_KERNEL_INVALID_ARGUMENT, place,
                      "this event belongs to no asynchronous copy of this kernel");
    }
    return found->second;
  }

  static std::int32_t copy_test(BatonCore* core, std::uint64_t /*session*/, std::uint64_t record,
                                const BatonPlace* place) {
    SimCore::SubmittedCopy& copy = submitted(core, record, place);
    std::string why;
    const DmaEngine::Record state = self(core).dma_.state(record, &why);
    if (state == DmaEngine::Record::failed)
      self(core).fail(BATON_KERNEL_OUT_OF_RANGE, place, "the copy failed: " + why);
    if (state == DmaEngine::Record::pending) yield(core);
    copy.awaited = copy.awaited || state == DmaEngine::Record::complete;
    return state == DmaEngine::Record::complete ? 1 : 0;
  }

  static void copy_wait(BatonCore* core, std::uint64_t /*session*/, std::uint64_t record, const BatonPlace* place) {
    SimCore::SubmittedCopy& copy = submitted(core, record, place);
    std::string why;
    attributed(core, place, [&] {
      if (self(core).dma_.wait(record, &why) == DmaEngine::Record::complete) copy.awaited = true;
    });
    if (!copy.awaited) self(core).fail(BATON_KERNEL_OUT_OF_RANGE, place, "the copy failed: " + why);
  }

  static void copy_defer(BatonCore* core, std::uint64_t record) {
    const auto found = self(core).copies_.find(record);
    if (found != self(core).copies_.end()) found->second.deferred = true;
  }

  /// Adds the instruction to an error of the layers below.
  static void attributed(BatonCore* core, const BatonPlace* place, FunctionRef<void()> body) {
    try {
      body();
    } catch (const Error& error) {
      self(core).fail(static_cast<std::int32_t>(error.code()), place, error.message());
    }
  }
};

namespace {

constexpr BatonCoreTable kTable = {
    CoreFunctions::fail,         CoreFunctions::address_known, CoreFunctions::issue,      CoreFunctions::set_flag,
    CoreFunctions::wait_flag,    CoreFunctions::pipe_barrier,  CoreFunctions::cache_line, CoreFunctions::memory_barrier,
    CoreFunctions::yield,        CoreFunctions::notify,        CoreFunctions::test,       CoreFunctions::wait,
    CoreFunctions::session_open, CoreFunctions::copy_submit,   CoreFunctions::copy_test,  CoreFunctions::copy_wait,
    CoreFunctions::copy_defer};

}  // namespace

FaultGuard* current_fault_guard() noexcept {
  auto* core = static_cast<SimCore*>(static_cast<BatonCore*>(fiber_local()));
  return core == nullptr ? nullptr : core->guard_;
}

SimCore::SimCore(const CorePlace& place, const Profile& profile, GlobalMemory& memory, DmaEngine& dma)
    : BatonCore{BATON_CORE_VERSION, 0, &kTable, {}},
      place_(place),
      memory_(memory),
      dma_(dma),
      storage_(profile.buffers, place.type == CoreType::cube ? BufferSet::cube : BufferSet::vector, buffers) {}

void SimCore::fail(std::int32_t code, const BatonPlace* place, const std::string& text) const {
  throw Error(static_cast<Code>(code), fmt::format("kernel '{}' on {}: {}: {}", call_ == nullptr ? "?" : call_->name,
                                                   describe(place_), describe_place(place), text));
}

void SimCore::run(KernelCall& call) {
  call_ = &call;
  fiber_local() = static_cast<BatonCore*>(this);
  try {
    execute(call);
    check_left_open(call);
  } catch (...) {
    call.error = std::current_exception();
  }
  for (const auto& [record, copy] : copies_) {
    if (!copy.deferred) dma_.abandon(record);
  }
  copies_.clear();
  flags_.clear();
  fiber_local() = nullptr;
  call_ = nullptr;
}

void SimCore::execute(KernelCall& call) {
  LocalContext local{};
  local.block_idx = call.block_index;
  local.block_num = call.block_count;
  local.async_ctx.task_token.raw = UINT64_MAX;  // nobody takes completion conditions here: the kernel waits itself
  GlobalContext global{};
  global.sub_block_id = place_.sub_block;
  // Any address but null says that the engine is there.
  global.dma_workspace[0] = reinterpret_cast<std::uint64_t>(&dma_);
  call.args[kLocalContextSlot] = reinterpret_cast<std::int64_t>(&local);
  call.args[kGlobalContextSlot] = reinterpret_cast<std::int64_t>(&global);
  try {
    run_guarded(guard_, [&] { call.entry(call.args.data()); });
  } catch (const Error& error) {
    if (error.code() != Code::kernel_fault) throw;
    throw Error(Code::kernel_fault,
                fmt::format("kernel '{}' on {} crashed: {}", call.name, describe(place_), error.message()));
  }
}

void SimCore::check_left_open(KernelCall& /*call*/) {
  if (const auto flag = flags_.left_set()) fail(BATON_KERNEL_LEFT_OPEN, &flag->second, flag->first);
  for (const auto& [record, copy] : copies_) {
    if (copy.awaited || copy.deferred) continue;
    fail(BATON_KERNEL_LEFT_OPEN, &copy.place, "the kernel returns, but nobody awaited this copy");
  }
}

}  // namespace baton::chip

// NOLINTNEXTLINE(readability-identifier-naming): the name is part of the kernel interface
extern "C" __attribute__((visibility("default"))) BatonCore* baton_core_current() {
  return static_cast<BatonCore*>(baton::fiber_local());
}
