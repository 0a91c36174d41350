#include "collectives/hosts/link.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include <fmt/format.h>

#include "collectives/patience.hpp"

namespace baton::collectives {
namespace {

using Word = std::atomic_ref<std::uint64_t>;

/// The room for messages of all lanes in the part of a rank, and of one; as much for blocks and for messages between
/// ranks.
constexpr std::size_t kLaneRoom = std::size_t{16} * 1024 * 1024;
constexpr std::size_t kMostOfALane = std::size_t{512} * 1024;
constexpr std::size_t kLeastOfALane = std::size_t{32} * 1024;
constexpr std::size_t kBlockRoom = std::size_t{16} * 1024 * 1024;
constexpr std::size_t kMostOfABlock = std::size_t{512} * 1024;
constexpr std::size_t kLeastOfABlock = std::size_t{32} * 1024;
constexpr std::size_t kMailRoom = std::size_t{8} * 1024 * 1024;
constexpr std::size_t kMostOfMail = std::size_t{64} * 1024;
constexpr std::size_t kLeastOfMail = std::size_t{1024};

std::size_t share_of_room(std::size_t all, int channels, std::size_t least, std::size_t most) noexcept {
  const std::size_t slots = static_cast<std::size_t>(channels) * ChannelLayout::kSlots;
  return std::clamp(all / slots / kLine * kLine, least, most);
}

std::size_t ring_bytes(const ChannelLayout& layout, int channels) noexcept {
  return static_cast<std::size_t>(channels) * ChannelLayout::kSlots * layout.slot_bytes;
}

}  // namespace

Link::Layout::Layout(const HostMap& map) noexcept {
  complaints = kRecords * sizeof(CallLine);
  lanes.lines = complaints + static_cast<std::size_t>(map.size()) * sizeof(Complaint);
  blocks.lines = lanes.lines_of(static_cast<std::size_t>(map.hosts()));
  // Lanes carry shorter ones, and all if every host has one rank.
  const std::size_t block = share_of_room(kBlockRoom, map.size(), 0, kMostOfABlock);
  const int block_channels = map.most_members() == 1 || block < kLeastOfABlock ? 0 : map.size();
  mail.lines = blocks.lines_of(static_cast<std::size_t>(block_channels));
  lanes.rings = mail.lines_of(static_cast<std::size_t>(map.size()));
  lanes.slot_bytes = share_of_room(kLaneRoom, map.hosts(), kLeastOfALane, kMostOfALane);
  blocks.rings = lanes.rings + ring_bytes(lanes, map.hosts());
  blocks.slot_bytes = block_channels == 0 ? 0 : block;
  mail.rings = blocks.rings + ring_bytes(blocks, block_channels);
  mail.slot_bytes = share_of_room(kMailRoom, map.size(), kLeastOfMail, kMostOfMail);
  bytes = mail.rings + ring_bytes(mail, map.size());
}

Link::Link(Domain& domain, const HostMap& map) : Link(domain, map, Layout(map)) {}

Link::Link(Domain& domain, const HostMap& map, const Layout& layout)
    : domain_name_(domain.name()),
      rank_(map.rank()),
      size_(map.size()),
      complaints_(layout.complaints),
      hosts_(static_cast<std::size_t>(map.hosts())),
      lanes_(layout.lanes),
      blocks_(layout.blocks),
      mail_(layout.mail),
      window_(domain.raw_window("collectives between hosts", layout.bytes)),
      ways_(hosts_ + (blocks_.slot_bytes != 0 ? static_cast<std::size_t>(size_) : 0)) {
  for (int host = 0; host < map.hosts(); ++host) {
    Way& way = lane(host);
    way.layout_ = &lanes_;
    if (host == map.here() || map.own_index() >= map.most_lanes()) continue;
    way.channel_.emplace(map.ranks(host)[static_cast<std::size_t>(map.own_index())], static_cast<std::size_t>(host),
                         static_cast<std::size_t>(map.here()));
  }
  for (int rank = 0; rank < size_; ++rank) {
    const auto here = static_cast<std::size_t>(rank);
    to_rank_.emplace_back(rank, here, static_cast<std::size_t>(rank_));
    if (blocks_.slot_bytes == 0) continue;
    Way& way = straight_to(rank);
    way.layout_ = &blocks_;
    if (map.host_of(rank) != map.here()) way.channel_.emplace(rank, here, static_cast<std::size_t>(rank_));
  }
}

void Link::begin(const Call& call, std::uint64_t details, std::chrono::nanoseconds timeout) {
  ++calls_;
  timeout_ = timeout;
  const std::uint64_t fingerprint = fingerprint_of(call);
  history_ = hash_with(hash_with(history_, fingerprint), details);
  auto& line = *reinterpret_cast<CallLine*>(window_.local() + calls_ % kRecords * sizeof(CallLine));
  // A rank that asks for them has a message of this call, or waits for one: it sees this call or a later one.
  Word(line.call).store(calls_, std::memory_order_relaxed);
  Word(line.fingerprint).store(fingerprint, std::memory_order_relaxed);
  Word(line.history).store(history_, std::memory_order_relaxed);
}

void Link::send(Way& way, const std::byte* data, std::size_t bytes) {
  std::unique_ptr<Transfer> transfer = way.channel_->send(
      window_, *way.layout_, data, bytes, history_,
      [this](int from, std::size_t offset, std::uint64_t value) { wait_told(from, offset, value, timeout_); });
  if (transfer != nullptr) sending_.push_back(std::move(transfer));
}

void Link::settle() {
  for (const std::unique_ptr<Transfer>& transfer : sending_) window_.finish(*transfer);
  sending_.clear();
}

void Link::take_back() noexcept {
  sending_.clear();
  for (Way& way : ways_) way.expected_.reset();
}

const std::byte* Link::receive(Way& way) {
  const Channel::Message message = way.channel_->receive(
      window_, *way.layout_,
      [this](int from, std::size_t offset, std::uint64_t value) { wait_told(from, offset, value, timeout_); });
  if (message.stamp != (history_ & kStampMask)) throw_mismatch(way.channel_->peer());
  return message.data;
}

void Link::expect(Way& way, std::byte* to, std::size_t bytes) {
  way.expected_ = way.channel_->land(window_, *way.layout_, to, bytes);
}

const std::byte* Link::receive(Way& way, std::byte* to, std::size_t bytes) {
  if (way.expected_ == nullptr) expect(way, to, bytes);
  const std::byte* const slot = receive(way);
  const std::unique_ptr<Landing> landing = std::move(way.expected_);
  return landing != nullptr && landing->has_come() ? to : slot;
}

void Link::release(Way& way) { way.channel_->release(window_, *way.layout_); }

void Link::wait_told(int from, std::size_t offset, std::uint64_t value, std::chrono::nanoseconds timeout) const {
  const std::chrono::nanoseconds longest = timeout_or_default(timeout);
  const auto told = [&](std::chrono::nanoseconds time) { return window_.is_told_within(from, offset, value, time); };
  if (reach_or_look(longest, told, [this] { look(); })) return;
  throw Error(
      Code::wait_timeout,
      fmt::format("rank {} waited {} s for rank {}", rank_, std::chrono::duration<double>(longest).count(), from),
      {window_.activity_of(from)});
}

void Link::throw_mismatch(int peer) const {
  std::array<CallLine, kRecords> theirs{};
  std::vector<std::string> notes;
  std::uint64_t first = 0;
  try {
    window_.get(peer, 0, theirs.data(), sizeof theirs);
  } catch (const Error& error) {
    notes.push_back(fmt::format("rank {} cannot be asked what it called: {}", peer, error.message()));
  }
  for (std::size_t slot = 0; slot < kRecords; ++slot) {
    const CallLine& mine = *reinterpret_cast<const CallLine*>(window_.local() + slot * sizeof(CallLine));
    if (mine.call == 0 || mine.call != theirs[slot].call || mine.history == theirs[slot].history) continue;
    if (first != 0 && mine.call >= first) continue;
    first = mine.call;
    notes = {fmt::format("rank {} called {}", rank_, describe(call_of(mine.fingerprint))),
             fmt::format("rank {} called {}", peer, describe(call_of(theirs[slot].fingerprint)))};
    if (mine.fingerprint == theirs[slot].fingerprint) notes.emplace_back("they differ in the options");
  }
  throw Error(Code::mismatch,
              fmt::format("ranks {} and {} of \"{}\" disagree about collective call {}", std::min(rank_, peer),
                          std::max(rank_, peer), domain_name_, first != 0 ? first : calls_),
              std::move(notes));
}

void Link::complain(const Error& error) noexcept {
  try {
    const std::string text = fmt::format("{}\n{}", error.message(), fmt::join(error.notes(), "\n"));
    Complaint complaint{};
    complaint.code = static_cast<std::uint32_t>(error.code());
    complaint.bytes = static_cast<std::uint32_t>(std::min(text.size(), kTextBytes));
    std::memcpy(complaint.text, text.data(), complaint.bytes);
    constexpr std::size_t kAfterWord = offsetof(Complaint, code);
    for (int peer = 0; peer < size_; ++peer) {
      if (peer == rank_) continue;
      try {
        window_.put_advance(peer, complaint_of(rank_) + kAfterWord, &complaint.code, sizeof complaint - kAfterWord,
                            complaint_of(rank_), 1);
      } catch (const Error&) {
        // It is gone, and with it who could wait.
      }
    }
  } catch (const std::exception&) {
    // Without memory for the text the others wait until their deadline.
  }
}

void Link::look() const {
  for (int peer = 0; peer < size_; ++peer) {
    auto& complaint = *reinterpret_cast<Complaint*>(window_.local() + complaint_of(peer));
    // Pairs with the advance() of who complained, which released the rest.
    if (Word(complaint.told).load(std::memory_order_acquire) == 0) continue;
    const std::string_view text(complaint.text, std::min<std::size_t>(complaint.bytes, kTextBytes));
    std::vector<std::string> lines;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      if (end != at) lines.emplace_back(text.substr(at, end - at));
      at = end + 1;
    }
    const std::string message = lines.empty() ? fmt::format("rank {} has given up", peer) : lines.front();
    if (!lines.empty()) lines.erase(lines.begin());
    throw Error(static_cast<Code>(complaint.code), message, std::move(lines));
  }
}

void Link::send_mail(int to, const std::byte* data, std::size_t bytes, std::uint64_t fingerprint,
                     std::chrono::nanoseconds timeout) {
  const std::size_t chunk = mail_.slot_bytes - kMailHead;
  letter_.resize(std::min(bytes, chunk) + kMailHead);
  std::size_t done = 0;
  do {
    const std::size_t now = std::min(chunk, bytes - done);
    std::memcpy(letter_.data(), &fingerprint, sizeof fingerprint);
    if (now != 0) std::memcpy(letter_.data() + kMailHead, data + done, now);
    const std::unique_ptr<Transfer> transfer = to_rank_[static_cast<std::size_t>(to)].send(
        window_, mail_, letter_.data(), kMailHead + now, 0,
        [&](int from, std::size_t offset, std::uint64_t value) { wait_told(from, offset, value, timeout); });
    if (transfer != nullptr) window_.finish(*transfer);
    done += now;
  } while (done < bytes);
}

void Link::receive_mail(int from, std::byte* data, std::size_t bytes, std::uint64_t fingerprint,
                        std::chrono::nanoseconds timeout) {
  Channel& channel = to_rank_[static_cast<std::size_t>(from)];
  const std::size_t chunk = mail_.slot_bytes - kMailHead;
  std::size_t done = 0;
  do {
    const Channel::Message message = channel.receive(
        window_, mail_,
        [&](int peer, std::size_t offset, std::uint64_t value) { wait_told(peer, offset, value, timeout); });
    std::uint64_t sent = 0;
    std::memcpy(&sent, message.data, sizeof sent);
    if (sent != fingerprint) throw_message_mismatch(from, sent, rank_, fingerprint);
    const std::size_t now = std::min(chunk, bytes - done);
    if (now != 0) std::memcpy(data + done, message.data + kMailHead, now);
    done += now;
    channel.release(window_, mail_);
  } while (done < bytes);
}

}  // namespace baton::collectives
