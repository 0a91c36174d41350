#include "collectives/graph/collective_kernel.hpp"

#include <pto_async_kernel_api.h>
#include <tensor.h>
#include <collectives/member.hpp>
#include <collectives/messages.hpp>
#include <collectives/operations.hpp>

namespace baton::collectives {
namespace {

/// The mover of one slice: passes the verbs on between its two meetings, and leaves out all others.
class SlicedMember {
 public:
  SlicedMember(BasicMember<AnyElement>& real, const Slice& slice, int64_t* args)
      : real_(real), slice_(slice), args_(args) {}

  [[nodiscard]] int rank() const { return real_.rank(); }
  [[nodiscard]] int size() const { return real_.size(); }
  [[nodiscard]] std::byte* room() const { return real_.room(); }
  [[nodiscard]] int64_t room_bytes() const { return real_.room_bytes(); }
  [[nodiscard]] std::byte* at(const View& view, int peer) const { return real_.at(view, peer); }
  [[nodiscard]] std::byte* at(std::byte* mine, int peer) const { return real_.at(mine, peer); }
  template <typename... Parts>
  [[noreturn]] void fail(Parts... parts) const {
    real_.fail(parts...);
  }

  void begin(int steps) { real_.begin(steps); }
  void end() {
    // The slice behind the last meeting waits for it.
    if (slice_.slice == slice_.slices - 1) defer_until_met();
    real_.end();
  }
  void meet() {
    if (slice_.slice == kWhole) return real_.meet();
    if (slice_.slice == met_) {
      real_.arrive();
      if (met_ + 2 < slice_.slices) defer_until_met();
    }
    ++met_;
  }
  void step() { real_.step(); }
  void tell(int peer) { real_.tell(peer); }
  void wait_step(int peer, uint64_t steps) { real_.wait_step(peer, steps); }
  void copy(void* to, const void* from, std::size_t bytes) {
    if (active()) real_.copy(to, from, bytes);
  }
  void post(int to) {
    if (active()) real_.post(to);
  }
  void wait_posted(int from) {
    if (slice_.slice == met_) defer(real_.posted(from), real_.posted_expected(from));
    ++met_;
  }
  void take(int from) {
    if (active()) real_.take(from);
  }
  /// By a slice of its own: what came is complete before.
  void wait_taken(int to) {
    if (slice_.slice == met_ + 1) defer(real_.taken(to), real_.taken_expected(to));
    ++met_;
  }
  template <class Source>
  void combine(std::byte* to, int sources, const Source& source, std::size_t count, const Work& work,
               uint32_t divisor) {
    if (active()) real_.combine(to, sources, source, count, work, divisor);
  }

 private:
  [[nodiscard]] bool active() const { return slice_.slice == kWhole || slice_.slice == met_; }
  /// The task is complete when all have arrived.
  void defer_until_met() { defer(real_.arrivals(), real_.arrivals_expected()); }
  void defer(int32_t* signal, int32_t expected) {
    AsyncCtx completion = get_async_ctx(args_);
    save_expected_notification_counter(completion, signal, static_cast<uint32_t>(expected));
  }

  BasicMember<AnyElement>& real_;
  Slice slice_;
  int64_t* args_;
  int met_ = 0;
};

std::byte* data_of(const ChipTensor& tensor, std::size_t element_bytes) {
  return reinterpret_cast<std::byte*>(tensor.buffer.addr) + tensor.start_offset * element_bytes;
}

}  // namespace
}  // namespace baton::collectives

extern "C" void baton_collective_kernel(std::int64_t* args) {
  using namespace baton::collectives;
  const auto tensor = [&](int index) { return *reinterpret_cast<const ChipTensor*>(args[index]); };
  const auto scalar = [&](int index) { return static_cast<uint64_t>(args[3 + index]); };
  const auto slice = from_u64<Slice>(scalar(1));
  const auto* context = from_u64<const CommContext*>(scalar(0));
  const auto room_bytes = static_cast<std::size_t>(scalar(5));
  const int block = get_block_idx(args);
  const int blocks = get_block_num(args);

  Work call;
  call.element = slice.element;
  call.element_bytes = baton::size_of(slice.element);
  call.op = slice.op;
  call.root = slice.root;
  call.input_stride = static_cast<std::size_t>(scalar(2)) * call.element_bytes;
  call.output_stride = call.input_stride;
  const Share share = share_of(static_cast<std::size_t>(scalar(4)), call.element_bytes, block, blocks);
  call.count = share.count;
  // The same on all ranks: nobody waits for this block.
  if (call.count == 0) return;

  const auto ranks = static_cast<int>(context->rankNum);
  std::byte* signals = data_of(tensor(2), 1);
  std::byte* rooms = signals + static_cast<std::size_t>(blocks * signals_needed(ranks)) * sizeof(int32_t);
  auto* own_signals = reinterpret_cast<int32_t*>(signals) + block * signals_needed(ranks);
  BasicMember<AnyElement> real(context, block_at(rooms, block, room_bytes), static_cast<int64_t>(room_bytes),
                               own_signals, signals_needed(ranks));
  SlicedMember me(real, slice, args);
  const std::size_t first = (static_cast<std::size_t>(scalar(3)) + share.first) * call.element_bytes;
  if (slice.operation == Operation::barrier) {
    const Partners partners{slice.root, static_cast<int>(scalar(2))};
    return run_messages(me, call, partners, data_of(tensor(0), call.element_bytes) + first,
                        data_of(tensor(1), call.element_bytes) + first);
  }
  run_operation(me, slice.operation, call, slice.algorithm, data_of(tensor(0), call.element_bytes) + first,
                data_of(tensor(1), call.element_bytes) + first);
}
