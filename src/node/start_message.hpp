// What a chip's process is told first.
#pragma once

#include <chrono>
#include <string>

#include <baton/chip.hpp>

#include "base/liveness.hpp"
#include "node/message.hpp"

namespace baton::node {

/// The environment variable that makes a program a chip: its number. The chip removes it.
inline constexpr const char* kChipVariable = "BATON_CHIP";
/// The value of that variable in a chip that an agent started: its rank is its number.
inline constexpr const char* kChipOfAgent = "agent";
/// Descriptors that the chip's process begins with: the node's segment, and a socket to the node.
inline constexpr int kSegmentFd = 3;
inline constexpr int kSocketFd = 4;

struct StartMessage {
  int size = 1;          // chips of its host
  std::string job;       // where the chips meet
  std::string launcher;  // the mail slot of the node
  ProcessId node{};
  ChipOptions chip;
};

/// On the way: the chip is to read its environment.
inline constexpr std::chrono::nanoseconds kNoTimeout{-1};

inline void put_start(MessageWriter& writer, const StartMessage& start) {
  writer.begin(MessageKind::start);
  writer.put(start.size);
  writer.put_text(start.job);
  writer.put_text(start.launcher);
  writer.put(start.node.pid);
  writer.put(start.node.start_time);
  writer.put_text(start.chip.platform);
  writer.put(start.chip.device);
  writer.put(start.chip.device_count);
  writer.put(start.chip.clusters);
  writer.put(start.chip.threads);
  writer.put(start.chip.task_window);
  writer.put(start.chip.output_heap_bytes);
  writer.put(start.chip.kernel_timeout.value_or(kNoTimeout).count());
}

[[nodiscard]] inline StartMessage get_start(MessageReader& reader) {
  StartMessage start;
  start.size = reader.get<int>();
  start.job = reader.get_text();
  start.launcher = reader.get_text();
  start.node.pid = reader.get<std::uint32_t>();
  start.node.start_time = reader.get<std::uint64_t>();
  start.chip.platform = reader.get_text();
  start.chip.device = reader.get<int>();
  start.chip.device_count = reader.get<int>();
  start.chip.clusters = reader.get<int>();
  start.chip.threads = reader.get<int>();
  start.chip.task_window = reader.get<std::uint64_t>();
  start.chip.output_heap_bytes = reader.get<std::uint64_t>();
  const std::chrono::nanoseconds limit(reader.get<std::chrono::nanoseconds::rep>());
  if (limit != kNoTimeout) start.chip.kernel_timeout = limit;
  return start;
}

/// Through the socket to a chip, with the descriptor of the buffer.
struct BufferMail {
  std::uint64_t id;
  std::uint64_t bytes;
  char name[48];
};

/// Through the socket to the node, once.
enum class StartNews : std::uint8_t { ready = 1, failed = 2 };

}  // namespace baton::node
