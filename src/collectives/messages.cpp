// send and recv: a channel with room for two chunks from each rank to each other.
#include <fmt/format.h>

#include <baton/error.hpp>

#include "collectives/host_mover.hpp"
#include "collectives/patience.hpp"

namespace baton::collectives {
namespace {

using Word = std::atomic_ref<std::uint64_t>;

}  // namespace

void throw_message_mismatch(int sender, std::uint64_t sent, int receiver, std::uint64_t wanted) {
  const auto text = [](std::uint64_t fingerprint) {
    const Call call = call_of(fingerprint);
    return fmt::format("{} {}", call.count, name_of(call.element));
  };
  throw Error(Code::mismatch,
              fmt::format("rank {} sent {} to rank {}, which receives {}", sender, text(sent), receiver, text(wanted)));
}

void HostMover::send(int to, const std::byte* data, std::size_t bytes, std::uint64_t fingerprint,
                     std::chrono::nanoseconds timeout) {
  watch("send");
  const std::size_t mine = layout_.mail + static_cast<std::size_t>(to) * sizeof(MailLine);
  const std::size_t theirs = layout_.mail + static_cast<std::size_t>(rank()) * sizeof(MailLine);
  auto& mail = at<MailLine>(rank(), mine);
  std::byte* room = &at<std::byte>(rank(), layout_.mail_data + static_cast<std::size_t>(to) * 2 * layout_.mail_chunk);
  std::uint64_t& sent = chunks_sent_[static_cast<std::size_t>(to)];
  std::size_t done = 0;
  do {
    // Room for two: the one before the last must have been taken.
    if (sent >= 2) wait_message(to, theirs + offsetof(MailLine, taken), sent - 1, timeout);
    const std::size_t now = std::min(layout_.mail_chunk, bytes - done);
    copy(room + sent % 2 * layout_.mail_chunk, data + done, now);
    // Released by the word below.
    Word(mail.fingerprint[sent % 2]).store(fingerprint, std::memory_order_relaxed);
    done += now;
    scratch_.advance(rank(), mine + offsetof(MailLine, sent), ++sent);
  } while (done < bytes);
}

void HostMover::receive(int from, std::byte* data, std::size_t bytes, std::uint64_t fingerprint,
                        std::chrono::nanoseconds timeout) {
  watch("recv");
  const std::size_t mine = layout_.mail + static_cast<std::size_t>(from) * sizeof(MailLine);
  const std::size_t theirs = layout_.mail + static_cast<std::size_t>(rank()) * sizeof(MailLine);
  auto& mail = at<MailLine>(from, theirs);
  const std::byte* room =
      &at<std::byte>(from, layout_.mail_data + static_cast<std::size_t>(rank()) * 2 * layout_.mail_chunk);
  std::uint64_t& received = chunks_received_[static_cast<std::size_t>(from)];
  std::size_t done = 0;
  do {
    wait_message(from, theirs + offsetof(MailLine, sent), received + 1, timeout);
    const std::uint64_t sent = Word(mail.fingerprint[received % 2]).load(std::memory_order_relaxed);
    if (sent != fingerprint) throw_message_mismatch(number(from), sent, number(rank()), fingerprint);
    const std::size_t now = std::min(layout_.mail_chunk, bytes - done);
    copy(data + done, room + received % 2 * layout_.mail_chunk, now);
    done += now;
    scratch_.advance(rank(), mine + offsetof(MailLine, taken), ++received);
  } while (done < bytes);
}

void HostMover::wait_message(int partner, std::size_t offset, std::uint64_t value, std::chrono::nanoseconds timeout) {
  // Pairs with the store in RawWindow::advance().
  if (Word(at<std::uint64_t>(partner, offset)).load(std::memory_order_acquire) >= value) {
    if (RawWindow::is_checked()) note_seen(partner, offset, value);
    return;
  }
  scratch_.wait_reached(partner, offset, value, Needed::owner, timeout_or_default(timeout));
}

}  // namespace baton::collectives
