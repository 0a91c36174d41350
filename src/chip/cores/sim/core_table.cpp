#include "chip/cores/sim/core_table.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/fail.hpp"
#include "base/fiber.hpp"
#include "chip/cores/sim/sim_core.hpp"
#include "chip/cores/sim/tile_file.hpp"

namespace baton::chip {
namespace {

WaitCmp comparison_of(std::uint32_t number) { return static_cast<WaitCmp>(std::min<std::uint32_t>(number, 5)); }
NotifyOp operation_of(std::uint32_t number) { return number == 0 ? NotifyOp::add : NotifyOp::set; }

/// For the log only: the wait before it acquired.
std::int32_t value_of(const std::int32_t* signal) {
  return std::atomic_ref(*const_cast<std::int32_t*>(signal)).load(std::memory_order_relaxed);
}

}  // namespace

/// The functions of the table. Each finds its core behind the BatonCore it is given.
struct CoreFunctions {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast): the table belongs to simulated cores alone
  static SimCore& self(BatonCore* core) { return static_cast<SimCore&>(*core); }
  static GlobalMemory& memory(BatonCore* core) { return self(core).around_.memory; }

  static RunningKernel& running(BatonCore* core) { return self(core).running_; }
  /// `caller`: the instruction behind the call, in the kernel.
  [[noreturn]] static void fail_late(BatonCore* core, const BatonPlace* place, const void* caller) {
    self(core).fail_late(place == nullptr ? describe_call(caller) : "at " + describe_place(place));
  }

  static void fail(BatonCore* core, const BatonFailure* failure) {
    self(core).fail(failure->code, failure->place, failure->text);
  }

  static std::int32_t address_known(BatonCore* core, const void* begin, std::uint64_t bytes, char* nearest,
                                    std::uint64_t nearest_bytes) {
    KnownExtents& extents = self(core).extents_;
    if (extents.hold(begin, bytes)) return BATON_ADDRESS_KNOWN;
    if (const auto found = memory(core).extent_of(begin, bytes)) {
      if (memory(core).is_far(begin)) return BATON_ADDRESS_FAR;
      extents.add(*found);
      return BATON_ADDRESS_KNOWN;
    }
    if (nearest_bytes != 0) {
      const std::string text = memory(core).describe_nearest(begin);
      const std::size_t length = std::min<std::size_t>(text.size(), nearest_bytes - 1);
      std::memcpy(nearest, text.data(), length);
      nearest[length] = '\0';
    }
    return BATON_ADDRESS_UNKNOWN;
  }

  static void issue(BatonCore* core, const BatonIssue* issue) {
    self(core).let_others_run();
    if (self(core).checker_) self(core).judge(issue->place, self(core).checker_->issue(*issue));
    if (self(core).checked_) self(core).checked_.issue(*issue);
  }

  static void set_flag(BatonCore* core, std::uint32_t producer, std::uint32_t consumer, std::int32_t id,
                       const BatonPlace* place) {
    self(core).judge(place, self(core).flags_.set(producer, consumer, id, *place));
    if (self(core).checker_) self(core).checker_->set_flag(producer, consumer, id);
  }

  static void wait_flag(BatonCore* core, std::uint32_t producer, std::uint32_t consumer, std::int32_t id,
                        const BatonPlace* place) {
    self(core).judge(place, self(core).flags_.wait(producer, consumer, id));
    if (self(core).checker_) self(core).checker_->wait_flag(producer, consumer, id);
  }

  static void pipe_barrier(BatonCore* core, std::uint32_t pipe, const BatonPlace* /*place*/) {
    if (self(core).checker_) self(core).checker_->barrier(pipe);
  }
  // Scalar accesses happen where they stand: nothing is left to order.
  static void memory_barrier(BatonCore* /*core*/, std::int32_t /*kind*/) {}

  // A kernel that polls memory calls this in its loop: others of its thread must be able to run.
  // It may be how the kernel publishes a flag that a condition waits for.
  static void cache_line(BatonCore* core, const volatile void* address, std::int32_t /*extent*/,
                         std::int32_t /*destination*/) {
    self(core).around_.memory.tell_change(const_cast<const void*>(address));
    yield(core);
  }
  static void yield(BatonCore* /*core*/) {
    if (on_fiber()) yield_fiber();
  }

  static EventSource source_of(BatonCore* core, const BatonPlace* place) {
    const CheckedKernel& checked = self(core).checked_;
    EventSource source{.where = {},
                       .lane = core_lane(self(core).position_.number),
                       .activity = checked.activity(),
                       .kernel = checked ? checked.kernel() : nullptr};
    if (place != nullptr) source.where = {place->file, place->line};
    return source;
  }

  static void notify(BatonCore* core, std::int32_t* signal, std::int32_t value, std::uint32_t op,
                     const BatonPlace* place) {
    SimCore& me = self(core);
    me.let_others_run();
    attributed(core, place, [&] {
      if (me.checker_ && memory(core).known(signal, sizeof *signal)) me.judge(place, me.checker_->notify(signal));
      if (me.around_.events != nullptr) note_signal(core, "notifies", signal, describe_change(value, operation_of(op)));
      if (me.around_.notifier != nullptr && memory(core).known(signal, sizeof *signal) &&
          memory(core).holder_of(signal) == Holder::peer_window) {
        me.around_.notifier->send(signal, value, operation_of(op), me.checked_.carried(source_of(core, place)));
      } else {
        memory(core).notify(signal, value, operation_of(op), source_of(core, place));
      }
    });
  }

  /// A chip sees its own changes.
  static void wait_for_own_notifications(BatonCore* core, const std::int32_t* signal) {
    if (self(core).around_.notifier != nullptr) self(core).around_.notifier->wait_for_signal(signal);
  }

  static std::int32_t test(BatonCore* core, const std::int32_t* signal, std::int32_t value, std::uint32_t comparison,
                           const BatonPlace* place) {
    bool held = false;
    attributed(core, place, [&] {
      wait_for_own_notifications(core, signal);
      held = memory(core).test(signal, comparison_of(comparison), value, source_of(core, place));
    });
    if (held) note_signal(core, "tests", signal, "holds");
    // A kernel that tests in a loop must let the one it waits for run.
    if (!held) yield(core);
    return held ? 1 : 0;
  }

  static void wait(BatonCore* core, const std::int32_t* signal, std::int32_t value, std::uint32_t comparison,
                   const BatonPlace* place) {
    SimCore& me = self(core);
    me.let_others_run();
    attributed(core, place, [&] {
      wait_for_own_notifications(core, signal);
      memory(core).wait(signal, comparison_of(comparison), value, source_of(core, place));
    });
    if (me.around_.events != nullptr) note_signal(core, "awaited", signal, fmt::format("has {}", value_of(signal)));
  }

  static void note_signal(BatonCore* core, const char* what, const std::int32_t* signal, const std::string& how) {
    if (self(core).around_.events == nullptr) return;
    self(core).note(fmt::format("{} {} {}", what, memory(core).name_of(signal), how));
  }

  static std::uint64_t session_open(BatonCore* core, const BatonSession* session, const BatonPlace* /*place*/) {
    // Numbered as pto::comm::DmaEngine: SDMA and URMA are one engine here, RDMA there is none.
    constexpr std::uint32_t kUrma = 1;
    return session->engine <= kUrma ? self(core).around_.dma.open_session() : 0;
  }

  static std::uint64_t copy_submit(BatonCore* core, const BatonCopy* copy, const BatonPlace* place) {
    SimCore& me = self(core);
    if (me.copies_.open_in(copy->session) >= kMostOpenCopies) {
      me.fail(BATON_KERNEL_INVALID_ARGUMENT, place,
              fmt::format("{} copies of this session are open already; wait for one of them", kMostOpenCopies));
    }
    me.let_others_run();
    auto record = std::make_shared<OperationRecord>();
    const std::uint64_t address = record->address();
    if (me.checker_) me.judge(place, me.checker_->submit(*copy, address, *place));
    if (me.around_.events != nullptr) me.note(fmt::format("submits {} bytes", copy->bytes));
    me.copies_.add(record, copy->session, *place);
    CheckedCopy checked;
    if (me.checked_) [[unlikely]] {
      checked = {memory(core).checked().next_token(), place->instruction, {place->file, place->line}, me.call_->name};
      record->token = memory(core).checked().next_token();
      me.checked_.hand(checked.submitted);
    }
    me.around_.dma.submit(*copy, std::move(record), checked);
    return address;
  }

  static SubmittedCopy& submitted(BatonCore* core, std::uint64_t record, const BatonPlace* place) {
    SubmittedCopy* const copy = self(core).copies_.find(record);
    if (copy == nullptr) {
      self(core).fail(BATON_KERNEL_INVALID_ARGUMENT, place,
                      "this event belongs to no asynchronous copy of this kernel");
    }
    return *copy;
  }

  static void saw_complete(BatonCore* core, const SubmittedCopy& copy) {
    self(core).copies_.take_care(copy, SubmittedCopy::Care::awaited);
    if (self(core).checker_) self(core).checker_->awaited(copy.record->address());
    if (self(core).checked_ && copy.record->token != 0) self(core).checked_.take(copy.record->token);
  }

  static std::int32_t copy_test(BatonCore* core, std::uint64_t /*session*/, std::uint64_t record,
                                const BatonPlace* place) {
    const SubmittedCopy& copy = submitted(core, record, place);
    bool complete = false;
    attributed(core, place, [&] { complete = copy.record->test(); });
    if (complete) {
      saw_complete(core, copy);
    } else {
      yield(core);
    }
    return complete ? 1 : 0;
  }

  static void copy_wait(BatonCore* core, std::uint64_t /*session*/, std::uint64_t record, const BatonPlace* place) {
    const SubmittedCopy& copy = submitted(core, record, place);
    attributed(core, place, [&] { self(core).around_.dma.wait(*copy.record); });
    saw_complete(core, copy);
  }

  // The condition itself, collected when the kernel has returned, says which copy is waited for.
  static void copy_defer(BatonCore* /*core*/, std::uint64_t /*record*/) {}

  static PipeSlot slot_of(const BatonPipeSlot& slot) {
    const auto way = slot.way == 0 ? PipeSlot::Way::to_vectors : PipeSlot::Way::to_cube;
    return {slot.pipe, way, slot.slots, slot.slot_bytes, slot.index, slot.element, slot.row_elements};
  }

  static CheckedKernel::Side side_of(const SimCore& core, const PipeSlot& slot) {
    const bool is_cube = core.position_.type == CoreType::cube;
    return is_cube == (slot.way == PipeSlot::Way::to_vectors) ? CheckedKernel::Side::pushes : CheckedKernel::Side::pops;
  }

  static ClusterPipes& pipes(BatonCore* core, const BatonPlace* place) {
    const SimCore& me = self(core);
    if (me.call_->pipes == nullptr) {
      me.fail(BATON_KERNEL_INVALID_ARGUMENT, place,
              "this kernel runs alone; a pipe connects the cores of one task of a cluster");
    }
    return *me.call_->pipes;
  }

  /// Waits for another core of the cluster; `settled` is asked under the mutex of the pipes, which a change of them
  /// holds before it rings.
  static void wait_for_peer(BatonCore* core, const BatonPlace* place, FunctionRef<bool()> settled,
                            FunctionRef<std::string()> awaited) {
    const auto timeout = memory(core).wait_timeout();
    if (settled() || wait_until(memory(core).parking_place(), settled, Deadline::within(timeout), [] {})) return;
    self(core).fail(BATON_KERNEL_WAIT_TIMEOUT, place,
                    fmt::format("has waited {} ms for {}",
                                std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count(), awaited()));
  }

  static std::int32_t pipe_acquire(BatonCore* core, const BatonPipeSlot* given, const BatonPlace* place) {
    SimCore& me = self(core);
    me.let_others_run();
    ClusterPipes& shared = pipes(core, place);
    const PipeSlot slot = slot_of(*given);
    std::optional<std::string> wrong;
    const auto settled = [&] {
      auto answer = shared.ask(me.part(), slot);
      wrong = std::move(answer.wrong);
      return answer.may_go_on || wrong.has_value();
    };
    wait_for_peer(core, place, settled, [&] { return shared.awaited_by(me.part(), slot); });
    if (wrong) me.fail(BATON_KERNEL_INVALID_ARGUMENT, place, *wrong);
    if (me.around_.events != nullptr) me.note(fmt::format("acquires slot {} of pipe {}", slot.index, slot.pipe));
    if (me.checked_) me.checked_.acquired(shared, slot, side_of(me, slot));
    return me.position_.sub_block;
  }

  static void pipe_release(BatonCore* core, const BatonPipeSlot* slot, const BatonPlace* place) {
    const SimCore& me = self(core);
    ClusterPipes& shared = pipes(core, place);
    if (me.checked_) me.checked_.released(shared, slot_of(*slot), side_of(me, slot_of(*slot)));
    shared.done(me.part(), slot_of(*slot));
    self(core).ring();
  }

  static const BatonBuffer* pipe_peer(BatonCore* core, std::uint32_t vector, std::uint32_t tile_type,
                                      const BatonPlace* place) {
    ClusterPipes& shared = pipes(core, place);
    if (!shared.takes_part(1 + vector)) return nullptr;
    const auto begun = [&] { return shared.buffers_of(1 + vector) != nullptr; };
    wait_for_peer(core, place, begun, [&] { return fmt::format("vector core {} to begin", vector); });
    return static_cast<const BatonBuffer*>(shared.buffers_of(1 + vector)) + tile_type;
  }

  static void print(BatonCore* core, std::uint32_t stream, const char* text, std::uint64_t bytes) {
    SimCore& me = self(core);
    using Stream = PrintedText::Stream;
    me.printed_.add(stream == BATON_STANDARD_ERROR ? Stream::error : Stream::output, {text, bytes}, me.origin());
  }

  static void leaving(BatonCore* core, std::uint32_t by, const char* how, const void* from) {
    SimCore& me = self(core);
    me.last_words_ = {by, how, from};
    if (me.guard_ != nullptr) me.guard_->last_words = &me.last_words_;
  }

  static void dump(BatonCore* core, const BatonDump* tile, const BatonPlace* place) {
    const SimCore& me = self(core);
    const std::string block = fmt::format("{}", me.local_.block_idx);
    attributed(core, place, [&] {
      write_tile_file(*tile, {fmt::format("{}", memory(core).rank()), short_name(me.position_), me.call_->name, block});
    });
  }

  static void* far_begin(BatonCore* core, const BatonGlobalRange* range, const BatonPlace* place) {
    void* near = nullptr;
    attributed(core, place, [&] { near = self(core).far_.begin(*range); });
    return near;
  }
  static void far_end(BatonCore* core, const BatonGlobalRange* range, const void* near, const BatonPlace* place) {
    attributed(core, place, [&] { self(core).far_.end(*range, near); });
  }
  static void far_scatter(BatonCore* core, const BatonScatter* pieces, const BatonPlace* place) {
    attributed(core, place, [&] { memory(core).scatter_far(*pieces); });
  }

  /// Adds the instruction to an error of the layers below.
  static void attributed(BatonCore* core, const BatonPlace* place, FunctionRef<void()> body) {
    try {
      body();
    } catch (const Error& error) {
      if (error.code() == Code::pipe_order) throw;  // names the instruction already
      self(core).fail(static_cast<std::int32_t>(error.code()), place, error.message(), error.notes());
    }
  }
};

namespace {

/// Of the arguments of an instruction: where it stands, if they tell.
const BatonPlace* place_among() { return nullptr; }
template <class... Others>
const BatonPlace* place_among(const BatonPlace* place, Others... /*others*/) {
  return place;
}
template <class... Others>
const BatonPlace* place_among(const BatonIssue* issue, Others... /*others*/) {
  return issue->place;
}
template <class First, class... Others>
const BatonPlace* place_among(First /*first*/, Others... others) {
  return place_among(others...);
}

/// A function as kernels call it: a kernel that has run for too long ends here, and one that is inside is not
/// interrupted.
template <auto Function>
struct Entered;
template <class Result, class... Arguments, Result (*Function)(BatonCore*, Arguments...)>
struct Entered<Function> {
  static Result call(BatonCore* core, Arguments... arguments) {
    const RunningKernel::Inside inside(CoreFunctions::running(core));
    if (CoreFunctions::running(core).is_overdue()) [[unlikely]]
      CoreFunctions::fail_late(core, place_among(arguments...), __builtin_return_address(0));
    return Function(core, arguments...);
  }
};
template <auto Function>
constexpr auto kEntered = &Entered<Function>::call;

}  // namespace

const BatonCoreTable kSimCoreTable = {kEntered<CoreFunctions::fail>,         kEntered<CoreFunctions::address_known>,
                                      kEntered<CoreFunctions::issue>,        kEntered<CoreFunctions::set_flag>,
                                      kEntered<CoreFunctions::wait_flag>,    kEntered<CoreFunctions::pipe_barrier>,
                                      kEntered<CoreFunctions::cache_line>,   kEntered<CoreFunctions::memory_barrier>,
                                      kEntered<CoreFunctions::yield>,        kEntered<CoreFunctions::notify>,
                                      kEntered<CoreFunctions::test>,         kEntered<CoreFunctions::wait>,
                                      kEntered<CoreFunctions::session_open>, kEntered<CoreFunctions::copy_submit>,
                                      kEntered<CoreFunctions::copy_test>,    kEntered<CoreFunctions::copy_wait>,
                                      kEntered<CoreFunctions::copy_defer>,   kEntered<CoreFunctions::pipe_acquire>,
                                      kEntered<CoreFunctions::pipe_release>, kEntered<CoreFunctions::pipe_peer>,
                                      kEntered<CoreFunctions::print>,        kEntered<CoreFunctions::dump>,
                                      kEntered<CoreFunctions::far_begin>,    kEntered<CoreFunctions::far_end>,
                                      kEntered<CoreFunctions::far_scatter>,  kEntered<CoreFunctions::leaving>};

}  // namespace baton::chip

// NOLINTNEXTLINE(readability-identifier-naming): the name is part of the kernel interface
extern "C" __attribute__((visibility("default"))) BatonCore* baton_core_current() {
  return static_cast<BatonCore*>(baton::fiber_local());
}
