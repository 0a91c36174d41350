// Asynchronous puts, in order, each with a signal if wanted.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <completion/conditions.hpp>
#include <moe/rows.hpp>
#include <pto/comm/pto_comm_inst.hpp>

namespace baton::moe {

/// Who waits for puts.
enum class Sending : int32_t {
  deferred,  // the task: it is complete when they are
  awaited,   // the kernel, which goes on when they are: for kernels that notify afterwards
};

/// A queue of a DMA engine, or, on a chip that has none, the core itself. What it reads is left alone until the task is
/// complete, which finish() makes sure of.
class Courier {
 public:
  /// `args` are those of the kernel. What the kernel wrote before may be sent.
  AICORE explicit Courier(int64_t* args, kernel::Where where = kernel::Where::current()) : args_(args), where_(where) {
    pipe_barrier(PIPE_ALL);
    pto::Tile<pto::TileType::Vec, uint8_t, 1, pto::comm::sdma::UB_ALIGN_SIZE> scratch;
    TASSIGN(scratch, 0);
    has_engine_ = pto::comm::BuildAsyncSession(scratch, get_dma_workspace(args, 0), session_);
  }

  template <typename Element>
  AICORE void put(Element* to, const Element* from, int64_t count) {
    if (!has_engine_) return copy_line(to, from, count);
    make_room();
    auto source = line_at(from, count);
    auto target = line_at(to, count);
    last_ = pto::comm::TPUT_ASYNC(target, source, session_);
  }
  /// Adds 1 to the signal when these bytes, and those of all earlier puts, have arrived.
  template <typename Element>
  AICORE void put_and_notify(Element* to, const Element* from, int64_t count, int32_t* signal) {
    const pto::comm::Signal there(signal);
    if (!has_engine_) {
      copy_line(to, from, count);
      pto::comm::TNOTIFY(there, 1, pto::comm::NotifyOp::AtomicAdd);
      return;
    }
    make_room();
    auto source = line_at(from, count);
    auto target = line_at(to, count);
    last_ = pto::comm::TPUT_ASYNC(target, source, session_, there, 1, pto::comm::NotifyOp::AtomicAdd);
  }

  AICORE void finish(Sending sending) {
    if (!last_.valid()) return;
    AsyncCtx completion = get_async_ctx(args_);
    const CompletionToken token{last_.handle, 0, COMPLETION_ENGINE_SDMA, COMPLETION_TYPE_SDMA_EVENT_RECORD, 1};
    if (sending == Sending::awaited || !register_completion_condition(completion, token)) {
      last_.Wait(session_, where_);
    }
    last_ = {};
  }

 private:
  static constexpr int kOpenAtMost = 64;

  /// The completion of a put is that of all earlier ones.
  AICORE void make_room() {
    if (open_ == kOpenAtMost) {
      last_.Wait(session_, where_);
      open_ = 0;
    }
    ++open_;
  }

  int64_t* args_;
  kernel::Where where_;
  bool has_engine_ = false;
  pto::comm::AsyncSession session_;
  pto::comm::AsyncEvent last_;
  int open_ = 0;
};

}  // namespace baton::moe
