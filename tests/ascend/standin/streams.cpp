// Streams and events (R 06, 07). What is queued is executed by a thread of the stream; errors of kernels are told by
// the next call that waits.
#include "streams.hpp"

#include <chrono>

#include "kernels.hpp"

namespace standin {

Stream::Stream(State& state, Device& device) : context(device.context), state_(state), device_(device) {
  thread_ = std::thread([this] { serve(); });
}

void Stream::serve() {
  Lock lock(state_.mutex);
  for (;;) {
    state_.changed.wait(lock, [&] { return ending_ || !queue_.empty(); });
    if (queue_.empty()) break;
    Work work = std::move(queue_.front());
    queue_.pop_front();
    running_ = true;
    if (work.kernel) {
      const int number = ++state_.kernels_run;
      if (state_.held_kernels.contains(number)) {
        state_.changed.wait(lock, [&] { return !state_.hold || ending_; });
      }
      const auto wanted = state_.failing_kernels.find(number);
      std::string text = "a kernel fails because a test wants it";
      int code = wanted == state_.failing_kernels.end() ? kOk : wanted->second;
      if (code == kOk) {
        lock.unlock();
        code = work.kernel(text);
        lock.lock();
      }
      if (code != kOk) fail(code, text);
    } else if (work.waits) {
      state_.changed.wait(lock, [&] { return aborted_ || ending_ || work.event->completed >= work.number; });
    } else if (!aborted_) {
      work.event->completed = std::max(work.event->completed, work.number);
    }
    running_ = false;
    state_.changed.notify_all();
  }
  lock.unlock();
  end_executor_of_thread();
}

void Stream::fail(int code, const std::string& text) {
  if (code == kDriver) device_.fault = code;
  if (!stops) {
    // The last error hides the first, and what follows runs.
    error_ = code;
    text_ = text;
    return;
  }
  if (error_ == kOk) {
    error_ = code;
    text_ = text;
  }
  for (const auto& [handle, stream] : state_.streams) {
    if (stream->context == context) stream->abort();
  }
}

void Stream::abort() {
  aborted_ = true;
  queue_.clear();
}

int Stream::add(Work work) {
  if (aborted_) return refuse(kAborted, "the stream was aborted by a failure");
  queue_.push_back(std::move(work));
  state_.changed.notify_all();
  return kOk;
}

int Stream::take_error() {
  if (error_ != kOk) return refuse(std::exchange(error_, kOk), text_);
  return aborted_ ? refuse(kAborted, "the stream was aborted by a failure") : kOk;
}

void Stream::end(Lock& lock, Wait wait) {
  if (wait == Wait::yes) state_.changed.wait(lock, [&] { return is_idle(); });
  const bool stops_kernels = running_;
  if (stops_kernels) stop_kernels(state_, context, Kernels::stop);
  queue_.clear();
  ending_ = true;
  state_.changed.notify_all();
  lock.unlock();
  thread_.join();
  lock.lock();
  if (stops_kernels) stop_kernels(state_, context, Kernels::go_on);
}

void end_streams_of(State& state, Lock& lock, const Device& device, Wait wait) {
  for (;;) {
    const auto found = std::find_if(state.streams.begin(), state.streams.end(),
                                    [&](const auto& entry) { return entry.second->context == device.context; });
    if (found == state.streams.end()) return;
    const std::unique_ptr<Stream> stream = std::move(found->second);
    state.streams.erase(found);
    stream->end(lock, wait);
  }
}

bool is_busy(State& state, const Device& device) {
  return std::any_of(state.streams.begin(), state.streams.end(), [&](const auto& entry) {
    return entry.second->context == device.context && !entry.second->is_idle();
  });
}

Stream* stream_of(State& state, const void* handle, const char* function, int& code) {
  const auto found = state.streams.find(number_of(handle));
  if (found == state.streams.end()) {
    code = violate(kBadHandle, std::string(function) + " with a stream that is not alive");
    return nullptr;
  }
  if (found->second->context != current_context()) {
    code = violate(kOtherContext, std::string(function) + " with a stream of another context");
    return nullptr;
  }
  return found->second.get();
}

namespace {

std::shared_ptr<Event> event_of(State& state, const void* handle, const char* function, int& code) {
  const auto found = state.events.find(number_of(handle));
  if (found == state.events.end()) {
    code = violate(kBadHandle, std::string(function) + " with an event that is not alive");
    return nullptr;
  }
  if (found->second->context != current_context()) {
    code = violate(kOtherContext, std::string(function) + " with an event of another context");
    return nullptr;
  }
  return found->second;
}

int destroy_stream(const char* function, void* handle, Wait wait) {
  return call(function, Needs::context, [&](State& state, Lock& lock) {
    if (handle == nullptr) return violate(kParameter, std::string(function) + " of the default stream");
    int code = kOk;
    const Stream* const given = stream_of(state, handle, function, code);
    if (given == nullptr) return code;
    if (given->waiting != 0)
      return violate(kBadParameter, std::string(function) + " while another thread waits for it");
    const auto found = state.streams.find(number_of(handle));
    const std::unique_ptr<Stream> stream = std::move(found->second);
    state.streams.erase(found);
    stream->end(lock, wait);
    return int{kOk};
  });
}

}  // namespace
}  // namespace standin

using namespace standin;  // NOLINT: the functions below are the stand-in's face

extern "C" {

STANDIN_API int aclrtCreateStream(void** out) {
  return call("aclrtCreateStream", Needs::device, [&](State& state, Lock&) {
    *out = state.new_handle();
    state.streams.emplace(number_of(*out), std::make_unique<Stream>(state, *current_device(state)));
    return int{kOk};
  });
}

STANDIN_API int aclrtDestroyStream(void* handle) { return destroy_stream("aclrtDestroyStream", handle, Wait::yes); }

STANDIN_API int aclrtDestroyStreamForce(void* handle) {
  return destroy_stream("aclrtDestroyStreamForce", handle, Wait::no);
}

STANDIN_API int aclrtSetStreamFailureMode(void* handle, std::uint64_t mode) {
  return call("aclrtSetStreamFailureMode", Needs::device, [&](State& state, Lock&) {
    int code = kOk;
    Stream* const stream = stream_of(state, handle, "aclrtSetStreamFailureMode", code);
    if (stream == nullptr) return code;
    if (stream->mode_is_set || mode > 1) return violate(kBadParameter, "aclrtSetStreamFailureMode: twice, or no mode");
    stream->mode_is_set = true;
    stream->stops = mode == 1;
    return int{kOk};
  });
}

STANDIN_API int aclrtSynchronizeStreamWithTimeout(void* handle, std::int32_t limit_ms) {
  return call("aclrtSynchronizeStreamWithTimeout", Needs::context, [&](State& state, Lock& lock) {
    int code = kOk;
    Stream* const stream = stream_of(state, handle, "aclrtSynchronizeStreamWithTimeout", code);
    if (stream == nullptr) return code;
    if (limit_ms == 0 || limit_ms < -1) return violate(kBadParameter, "a limit of 0 ms, or less than -1");
    const auto done = [&] { return stream->is_idle(); };
    ++stream->waiting;
    bool in_time = true;
    if (limit_ms == -1) {
      state.changed.wait(lock, done);
    } else {
      in_time = state.changed.wait_for(lock, std::chrono::milliseconds(limit_ms), done);
    }
    --stream->waiting;
    return in_time ? stream->take_error() : refuse(kSyncTimeout, "the stream has not ended in time");
  });
}

STANDIN_API int aclrtCreateEventExWithFlag(void** out, std::uint32_t flag) {
  return call("aclrtCreateEventExWithFlag", Needs::device, [&](State& state, Lock&) {
    if (flag != 1) return violate(kBadParameter, "aclrtCreateEventExWithFlag: events are for synchronisation here");
    *out = state.new_handle();
    state.events.emplace(number_of(*out), std::make_shared<Event>(Event{.context = current_context()}));
    return int{kOk};
  });
}

STANDIN_API int aclrtRecordEvent(void* handle, void* on) {
  return call("aclrtRecordEvent", Needs::device, [&](State& state, Lock&) {
    int code = kOk;
    const auto event = event_of(state, handle, "aclrtRecordEvent", code);
    if (event == nullptr) return code;
    Stream* const stream = stream_of(state, on, "aclrtRecordEvent", code);
    if (stream == nullptr) return code;
    return stream->add({.kernel = {}, .event = event, .number = ++event->recorded});
  });
}

STANDIN_API int aclrtQueryEventStatus(void* handle, std::int32_t* status) {
  return call("aclrtQueryEventStatus", Needs::device, [&](State& state, Lock&) {
    int code = kOk;
    const auto event = event_of(state, handle, "aclrtQueryEventStatus", code);
    if (event == nullptr) return code;
    *status = event->completed >= event->recorded ? 1 : 0;
    return int{kOk};
  });
}

STANDIN_API int aclrtStreamWaitEvent(void* on, void* handle) {
  return call("aclrtStreamWaitEvent", Needs::device, [&](State& state, Lock&) {
    int code = kOk;
    const auto event = event_of(state, handle, "aclrtStreamWaitEvent", code);
    if (event == nullptr) return code;
    Stream* const stream = stream_of(state, on, "aclrtStreamWaitEvent", code);
    if (stream == nullptr) return code;
    return stream->add({.kernel = {}, .event = event, .number = event->recorded, .waits = true});
  });
}

STANDIN_API int aclrtDestroyEvent(void* handle) {
  return call("aclrtDestroyEvent", Needs::context, [&](State& state, Lock&) {
    int code = kOk;
    if (event_of(state, handle, "aclrtDestroyEvent", code) == nullptr) return code;
    state.events.erase(number_of(handle));
    return int{kOk};
  });
}

}  // extern "C"
