#include "wire/path_message.hpp"

#include <cstring>

namespace baton::wire {
namespace {

bool has_whole_pieces(const PathHeader& message) noexcept {
  const auto piece = static_cast<std::uint64_t>(message.value);
  return message.value > 0 && piece <= message.bytes && message.bytes % (piece + sizeof(std::int64_t)) == 0;
}

}  // namespace

const char* path_defect(const void* header, std::size_t header_bytes, std::size_t payload_bytes,
                        const PathReceiver& receiver) noexcept {
  if (header == nullptr || header_bytes != sizeof(PathHeader)) return "not a message of Baton's";
  PathHeader message{};
  std::memcpy(&message, header, sizeof message);
  if (message.magic != kPathMagic) return "not a message of Baton's";
  if (message.version != kPathVersion) return "of another version of Baton";
  if (message.pass != receiver.pass) return "from somebody who is not of the job";
  if (message.source >= receiver.rank_count || message.source == receiver.rank) return "from an impossible rank";
  const auto kind = static_cast<std::uint16_t>(message.kind);
  if (kind == 0 || kind > static_cast<std::uint16_t>(kLastPathKind)) return "of an unknown kind";
  if (static_cast<std::uint32_t>(message.change) > static_cast<std::uint32_t>(kLastSignalChange))
    return "with an unknown change of a signal";
  if (message.bytes != payload_bytes) return "of another length than it says";
  const bool has_payload = message.kind == PathKind::put || message.kind == PathKind::reply ||
                           message.kind == PathKind::post || message.kind == PathKind::sum ||
                           message.kind == PathKind::scatter;
  if (message.bytes != 0 && !has_payload) return "with a payload that it should not have";
  if (message.change != SignalChange::none && message.kind != PathKind::put) return "with a signal that is not its own";
  if (message.kind == PathKind::get && message.value < 0) return "with an impossible length";
  if (message.kind == PathKind::scatter && !has_whole_pieces(message)) return "with half of a piece";
  if ((message.sequence == 0) != (message.kind == PathKind::applied)) return "with a number that it should not have";
  return nullptr;
}

}  // namespace baton::wire
