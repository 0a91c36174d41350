#include "chip/cores/sim/sim_core.hpp"

#include <new>

#include <intrinsic.h>

#include "base/fail.hpp"
#include "base/fiber.hpp"
#include "base/parking.hpp"
#include "chip/cores/sim/core_table.hpp"

namespace baton::chip {
namespace {

/// With a seed, a core pauses before one instruction in this many,
constexpr std::uint64_t kInstructionsPerPause = 4;
/// and each pause has one of these lengths, all equally often: 1, 2, 4 ... turns. Long ones let others run far ahead.
constexpr std::uint64_t kPauses = 7;

/// Of an instruction: what a code says elsewhere is about windows and calls.
std::string_view remedy_for(Code code) {
  switch (code) {
    case Code::invalid_argument: return info_of(Situation::instruction).remedy;
    case Code::misaligned: return info_of(Situation::operand_misaligned).remedy;
    case Code::out_of_range: return info_of(Situation::operand_outside).remedy;
    default: return {};
  }
}

BufferSet buffer_set(CoreType type) { return type == CoreType::cube ? BufferSet::cube : BufferSet::vector; }

}  // namespace

GuardedKernel current_guarded_kernel() noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast): all cores here are simulated ones
  auto* core = static_cast<SimCore*>(static_cast<BatonCore*>(fiber_local()));
  if (core == nullptr) return {};
  return {core->guard_, &core->running_, core->call_};
}

std::string describe_running_kernel(const void* actor) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast): all cores here are simulated ones
  const auto* core = static_cast<const SimCore*>(static_cast<const BatonCore*>(actor));
  if (core->call_ == nullptr) return {};
  const KernelCall& call = *core->call_;
  return fmt::format("kernel '{}'{} on {}", call.name, call.task == 0 ? "" : fmt::format(" (task {})", call.task),
                     describe(core->position_));
}

SimCore::SimCore(const CorePosition& position, const Profile& profile, const CoreSurroundings& around)
    : BatonCore{BATON_CORE_VERSION, 0, &kSimCoreTable, {}},
      position_(position),
      around_(around),
      storage_(profile.buffers, buffer_set(position.type), buffers),
      checked_(around.memory),
      far_(around.memory) {
  if (around.order == PipeOrder::strict) {
    checker_ = std::make_unique<OrderChecker>(buffers, buffer_set(position.type), around.memory);
  }
  if (around.seed) {
    chance_.emplace(*around.seed, static_cast<std::uint64_t>(around.memory.rank()),
                    static_cast<std::uint64_t>(position.number));
  }
  set_watches();
}

void SimCore::fail(std::int32_t code, const BatonPlace* place, const std::string& text,
                   std::vector<std::string> notes) const {
  throw Error(static_cast<Code>(code),
              fmt::format("kernel '{}' on {}: {}: {}", call_ == nullptr ? "?" : call_->name, describe(position_),
                          describe_place(place), text),
              std::move(notes), remedy_for(static_cast<Code>(code)));
}

void SimCore::fail_late(const std::string& where) const {
  throw Error(Code::kernel_timeout, fmt::format("kernel '{}' on {} has run for more than {:.3g} s; it was {}",
                                                call_ == nullptr ? "?" : call_->name, describe(position_),
                                                std::chrono::duration<double>(around_.kernel_timeout).count(), where));
}

void SimCore::let_others_run() {
  if (!chance_ || !on_fiber() || !chance_->one_in(kInstructionsPerPause)) return;
  for (std::uint64_t turns = std::uint64_t{1} << chance_->below(kPauses); turns > 0; --turns) yield_fiber();
}

void SimCore::add_event(std::string_view what) const {
  around_.events->add(fmt::format("{} {} {} {}", around_.memory.rank(), short_name(position_),
                                  call_ == nullptr ? "-" : call_->name, what));
}

std::string SimCore::origin() const {
  return fmt::format("[rank {}, {}, {}] ", around_.memory.rank(), describe(position_), call_->name);
}

void SimCore::run(KernelCall& call) {
  call_ = &call;
  call.conditions.clear();
  void*& current = fiber_local();
  current = static_cast<BatonCore*>(this);
  if (call.activity != 0) [[unlikely]] {
    checked_.begin(call.activity, call.name);
    set_watches();
  }
  note("begins");
  if (call.pipes != nullptr) {
    call.pipes->begin(part(), static_cast<const void*>(&buffers));
    ring();
  }
  try {
    execute(call);
    if (!flags_.empty() || slab_.is_used() || !copies_.empty()) finish(call);
  } catch (...) {
    call.error = std::current_exception();
  }
  if (around_.notifier != nullptr || call.error) {
    try {
      drain(call);
    } catch (...) {
      if (!call.error) call.error = std::current_exception();
    }
  }
  if (!printed_.empty()) printed_.finish(origin());
  if (call.pipes != nullptr) leave_cluster(call);
  note(call.error ? "fails" : "ends");
  if (!copies_.empty()) copies_.clear();
  if (!flags_.empty()) flags_.clear();
  if (checker_) checker_->clear();
  if (checked_) [[unlikely]] {
    checked_.end();
    set_watches();
  }
  current = nullptr;
  call_ = nullptr;
}

std::string SimCore::where() {
  // One that waits is in a function of its core, and on no thread.
  if (running_.turn.load(std::memory_order_relaxed) % 2 == 0 || running_.inside_core.load(std::memory_order_relaxed))
    return {};
  // For its thread to get a processor.
  constexpr auto kLongEnough = std::chrono::milliseconds(500);
  running_.interrupted_at.store(0, std::memory_order_relaxed);
  interrupt_kernels();
  const auto seen = [&] { return running_.interrupted_at.load(std::memory_order_relaxed) != 0; };
  const Deadline deadline = Deadline::after(kLongEnough);
  while (!yield_until(seen) && !deadline.passed()) continue;
  const std::uintptr_t instruction = running_.interrupted_at.load(std::memory_order_relaxed);
  return instruction == 0 ? std::string() : describe_instruction(reinterpret_cast<const void*>(instruction));
}

void SimCore::leave_cluster(KernelCall& call) {
  using End = ClusterPipes::End;
  const auto left_over = call.pipes->leave(part(), call.error ? End::failed : End::returned);
  if (left_over) {
    call.error = std::make_exception_ptr(
        Error(static_cast<Code>(BATON_KERNEL_LEFT_OPEN),
              fmt::format("kernel '{}' on {}: the block ends, but {}", call.name, describe(position_), *left_over)));
  }
  ring();
}

void SimCore::ring() const {
  const ParkingPlace place = around_.memory.parking_place();
  place.doorbell->ring(place.scope);
}

void SimCore::drain(KernelCall& call) {
  if (around_.notifier != nullptr) around_.notifier->wait_for(around_.notifier->last_sent());
  if (checked_ && checked_.last_sent() != 0) checked_.take(checked_.last_sent());
  if (!call.error) return;
  // A program that learns of the error may free the memory: no byte may move after that.
  call.conditions.clear();
  copies_.for_each([this](const OperationRecord& record) { around_.dma.wait_settled(record); });
}

void SimCore::execute(KernelCall& call) {
  extents_.clear();
  local_.block_idx = call.block_index;
  local_.block_num = call.block_count;
  slab_.open(call, local_.async_ctx);
  // A kernel may write to what it gets.
  global_.sub_block_id = position_.sub_block;
  // Any address but null says that the engine is there.
  global_.dma_workspace[0] = reinterpret_cast<std::uint64_t>(&around_.dma);
  global_.dma_workspace[1] = 0;
  call.args[kLocalContextSlot] = reinterpret_cast<std::int64_t>(&local_);
  call.args[kGlobalContextSlot] = reinterpret_cast<std::int64_t>(&global_);
  std::optional<KernelFault> fault;
  try {
    const RunningKernel::Turn turn(running_, call.entry);
    fault = run_guarded(guard_, call.entry, call.args.data());
  } catch (const std::bad_alloc&) {
    baton::fail(Situation::kernel_memory, "kernel '{}' on {} asked for more host memory than there is", call.name,
                describe(position_));
  }
  if (!fault) return;
  if (fault->code == Code::kernel_timeout) fail_late(fault->text);
  std::string text = fmt::format("kernel '{}' on {} {}", call.name, describe(position_), fault->text);
  if (fault->address != nullptr) {
    const std::string nearest = around_.memory.describe_nearest(fault->address);
    // Only where it explains something: null is near nothing.
    if (nearest.starts_with("byte ")) text += "; that is " + nearest;
  }
  throw Error(Code::kernel_fault, std::move(text), {}, fault->remedy);
}

void SimCore::finish(KernelCall& call) {
  if (!flags_.empty()) {
    const auto flag = flags_.left_set();
    fail(BATON_KERNEL_LEFT_OPEN, &flag->second, flag->first);
  }
  try {
    if (slab_.is_used()) call.conditions = slab_.collect(call, around_.memory, copies_);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("kernel '{}' on {}: {}", call.name, describe(position_), error.message()));
  }
  if (copies_.empty()) return;
  if (const SubmittedCopy* copy = copies_.left_open()) {
    fail(BATON_KERNEL_LEFT_OPEN, &copy->place, "the kernel returns, but nobody waits for this copy");
  }
}

}  // namespace baton::chip
