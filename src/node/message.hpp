// What the records between a node and its chips hold.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <baton/error.hpp>

#include "node/byte_stream.hpp"

namespace baton::node {

/// The first word after the length of every record.
enum class MessageKind : std::uint32_t {
  // tasks
  run = 1,         // a task
  define,          // what a number of a callable stands for
  release_domain,  // a domain is not used by later tasks
  forget_buffer,   // a buffer is not used any more
  stop,            // nothing follows
  // reports
  failure = 16,  // a task, or the start of the chip, went wrong
  // control: behind the kind stands the number of the request, but for `start`
  start = 32,    // what the chip is; the first message
  open_domain,   // a collective allocation
  copy_in,       // from the staging memory to a window
  copy_out,      // from a window to the staging memory
  watch_signal,  // a task waits for a notification
  stop_control,  // nothing follows
  trace,         // a trace begins, or ends
  // replies: of `done` and `failed`, the number of the request comes first
  done = 48,
  failed,
  wait_ended,  // of watch_signal: the signal is there, or never will be
};

/// Builds one record. Keeps its memory for the next one.
class MessageWriter {
 public:
  void begin(MessageKind kind) {
    bytes_.clear();
    put(std::uint32_t{0});
    put(kind);
  }
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  void put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    const auto* data = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), data, data + text.size());
  }
  /// The record, until the next begin().
  [[nodiscard]] std::span<const std::byte> finish() {
    bytes_.resize((bytes_.size() + kRecordAlign - 1) / kRecordAlign * kRecordAlign);
    const auto length = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data(), &length, sizeof length);
    return bytes_;
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads one record in the order in which it was written.
class MessageReader {
 public:
  explicit MessageReader(std::span<const std::byte> record) noexcept : record_(record), at_(sizeof(std::uint32_t)) {
    kind_ = get<MessageKind>();
  }
  [[nodiscard]] MessageKind kind() const noexcept { return kind_; }
  template <class T>
  [[nodiscard]] T get() noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (at_ + sizeof value <= record_.size()) std::memcpy(&value, record_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  [[nodiscard]] std::string get_text() {
    const auto length = get<std::uint32_t>();
    if (at_ + length > record_.size()) return {};
    std::string text(reinterpret_cast<const char*>(record_.data()) + at_, length);
    at_ += length;
    return text;
  }

 private:
  std::span<const std::byte> record_;
  std::size_t at_;
  MessageKind kind_{};
};

/// An Error on its way to another process.
struct Failure {
  Code code = Code::internal;
  std::string message;
  std::vector<std::string> notes;
  /// Empty: that of the code.
  std::string remedy = {};
};

/// What an exception tells: of an Error its parts, of others the text, with a code for them.
[[nodiscard]] Failure failure_of(const std::exception_ptr& exception, Code otherwise = Code::internal);
void put_failure(MessageWriter& writer, const Failure& failure);
[[nodiscard]] Failure get_failure(MessageReader& reader);

}  // namespace baton::node
