// The DMA engine of a chip: carries out asynchronous copies later, on a fiber of its own.
//
// Copies of one session are carried out in order; copies of different sessions in any order, and piece by piece in
// turns. A copy moves in chunks, so that a reader that is too early reads half of it. Its record becomes complete, and
// its signal fires, after its last byte.
//
// What goes to another host, or comes from there, goes on by itself: the engine starts pieces of many copies, and hears
// of their ends. Copies of one session that touch different bytes are on their way together, and complete in order.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <baton/error.hpp>
#include <pto/target/core.hpp>

#include "chip/cores/event_log.hpp"
#include "chip/cores/global_memory.hpp"
#include "chip/cores/operation.hpp"
#include "chip/cores/seed.hpp"
#include "chip/cores/sim/checked_kernel.hpp"
#include "chip/cores/sim/late_notifier.hpp"

namespace baton::chip {

struct DmaOptions {
  std::uint64_t chunk_bytes = 64 * 1024;
  /// Of copies to and from other hosts. What else goes to the same rank waits for a piece that is on its way.
  std::uint64_t far_chunk_bytes = 1024 * 1024;
  /// With it, the sizes of chunks, which session goes next and how long the engine rests in between follow from it.
  std::optional<Chance> chance = std::nullopt;
  /// Delivers signals, if given.
  LateNotifier* notifier = nullptr;
  EventLog* events = nullptr;
};

/// Any core may submit; one fiber runs serve().
class DmaEngine {
 public:
  DmaEngine(GlobalMemory& memory, const DmaOptions& options) : memory_(memory), options_(options) {}
  DmaEngine(const DmaEngine&) = delete;
  DmaEngine& operator=(const DmaEngine&) = delete;

  [[nodiscard]] std::uint64_t open_session();

  /// Settles `record`, a new one, when the copy is complete or has failed. After a failed copy those behind it in its
  /// session fail too, so that a wait for any of them learns of it.
  void submit(const BatonCopy& copy, std::shared_ptr<OperationRecord> record, const CheckedCopy& checked = {});

  /// Waits on the calling fiber until the copy is complete. Throws why it failed, or wait_timeout.
  void wait(const OperationRecord& record) const;
  /// As wait(), but a copy that failed will do.
  void wait_settled(const OperationRecord& record) const;

  /// Carries out copies until stop(), and then those that are left. On a fiber of its own.
  void serve();
  void stop();

 private:
  /// What is on its way to or from another host.
  struct FarPiece {
    std::unique_ptr<Transfer> transfer;
    std::uint64_t bytes;
  };
  struct Copy {
    BatonCopy request;
    std::shared_ptr<OperationRecord> record;
    std::uint64_t number;  // of all copies of this engine
    bool is_far = false;
    CheckedCopy checked{};
    // From here on the engine's fiber only.
    enum class Stage : std::uint8_t { waiting, moving, landed } stage = Stage::waiting;
    std::uint64_t begun = 0;  // bytes
    std::uint64_t done = 0;
    std::uint64_t began = 0;        // ticks; in a trace
    std::deque<FarPiece> pieces{};  // on their way
    std::optional<Error> failure{};
  };
  using Session = std::deque<Copy>;

  /// The copy with which the engine goes on, or nullptr.
  [[nodiscard]] Copy* next();
  [[nodiscard]] bool can_go_on();
  /// When a piece that is on its way will be over without anybody's call.
  [[nodiscard]] Deadline latest_news();
  /// The first of a session that the engine can do something for.
  [[nodiscard]] static Copy* first_able(Session& session);
  void go_on(Copy& copy);
  void begin(Copy& copy);
  [[nodiscard]] bool is_first(const Copy& copy);
  /// What has landed and is the first of its session.
  void end(Copy& copy);
  void finish(Copy& copy);
  [[nodiscard]] std::uint64_t chunk_of(std::uint64_t left, std::uint64_t usual);
  void move_chunk(Copy& copy);
  void move_pieces(Copy& copy);
  /// Those behind it in its session will fail, too.
  void give_up(Copy& copy, const Error& why);
  void settle(Copy& copy);
  [[nodiscard]] std::optional<std::string> why_impossible(const BatonCopy& request) const;
  void rest();
  /// As `baton check` knows it.
  [[nodiscard]] EventSource source_of(const Copy& copy) const noexcept;
  void note_touches(const Copy& copy) const;
  void note(const Copy& copy, const std::string& what) const;

  GlobalMemory& memory_;
  DmaOptions options_;
  std::mutex mutex_;
  /// Each session's copies; a copy stays where it is until the engine, which alone removes it, has finished it.
  std::map<std::uint64_t, Session> sessions_;    // guarded by mutex_
  std::uint64_t last_session_ = 0;               // guarded by mutex_
  std::uint64_t submitted_ = 0;                  // guarded by mutex_
  std::map<std::uint64_t, std::string> broken_;  // by session: why; the engine's fiber only
  std::atomic<std::uint64_t> pending_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace baton::chip
