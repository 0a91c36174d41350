// Streams and events of the stand-in.
#pragma once

#include <deque>
#include <thread>

#include "state.hpp"

namespace standin {

struct Event {
  std::uint64_t context = 0;
  std::uint64_t recorded = 0;   // records that were queued
  std::uint64_t completed = 0;  // the newest of them that has happened
};

/// One thing that a stream does.
struct Work {
  /// A kernel: its code and, if it failed, a text. Without the lock.
  std::function<int(std::string& text)> kernel;
  /// Otherwise an event: to record, or to wait for.
  std::shared_ptr<Event> event;
  std::uint64_t number = 0;
  bool waits = false;
};

/// A queue with a thread that works on it. All calls with the lock of the state.
class Stream {
 public:
  Stream(State& state, Device& device);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() = default;

  /// Ends its thread; `Wait::no` drops what is queued.
  void end(Lock& lock, Wait wait);
  int add(Work work);
  [[nodiscard]] bool is_idle() const { return queue_.empty() && !running_; }
  /// What went wrong since the last call.
  int take_error();
  void abort();

  const std::uint64_t context;
  int waiting = 0;  // threads that synchronise with it
  bool mode_is_set = false;
  bool stops = false;

 private:
  void serve();
  void fail(int code, const std::string& text);

  State& state_;
  Device& device_;
  std::deque<Work> queue_;
  bool running_ = false;
  bool ending_ = false;
  bool aborted_ = false;
  int error_ = kOk;
  std::string text_;
  std::thread thread_;

 public:
  [[nodiscard]] bool is_ending() const { return ending_; }
};

/// The live stream of this handle in this thread's context. Null: `code` says what is wrong.
Stream* stream_of(State& state, const void* handle, const char* function, int& code);

}  // namespace standin
