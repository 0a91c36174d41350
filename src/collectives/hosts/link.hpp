// What a rank has to reach ranks of other hosts with: channels to those that carry the same lane, to all for blocks,
// and to all for messages; and how ranks of different hosts notice that they made different calls.
//
// Each message of a lane, and each block, is stamped with a hash of all calls so far. A rank that gets another stamp
// than it would have sent asks for the last calls of the sender, tells all members what differs, and gives up.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <baton/domain.hpp>
#include <baton/error.hpp>

#include "collectives/call.hpp"
#include "collectives/hosts/channel.hpp"
#include "collectives/hosts/host_map.hpp"

namespace baton::collectives {

class Link {
 public:
  /// Collective over the domain.
  Link(Domain& domain, const HostMap& map);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() = default;

  /// Begins the next call. `details` is what must agree and is not in `call`.
  void begin(const Call& call, std::uint64_t details, std::chrono::nanoseconds timeout);

  /// To a rank of another host, and from it.
  class Way {
    friend class Link;
    std::optional<Channel> channel_;  // none to the own host, none of a lane that this rank does not carry
    const ChannelLayout* layout_ = nullptr;
    std::unique_ptr<Landing> expected_;  // mostly null
  };
  /// That of `host` that carries this rank's lane.
  [[nodiscard]] Way& lane(int host) noexcept { return ways_[static_cast<std::size_t>(host)]; }
  /// For large blocks, if block_bytes() is not 0: not where every host has one rank, nor where there are many.
  [[nodiscard]] Way& straight_to(int rank) noexcept { return ways_[hosts_ + static_cast<std::size_t>(rank)]; }

  /// A message has at most message_bytes(), a block block_bytes(). `data` must not change until settle() has returned;
  /// what receive() returns stays until release().
  void send(Way& way, const std::byte* data, std::size_t bytes);
  void settle();
  /// Nothing is on its way when it returns; what was may not arrive. For a call that failed.
  void take_back() noexcept;
  [[nodiscard]] const std::byte* receive(Way& way);
  /// From now on the next message may be written to `to`, if it has so many bytes: nobody has use of what is there.
  /// receive() of the same follows.
  void expect(Way& way, std::byte* to, std::size_t bytes);
  /// Expects it, if that was not said before. The message may lie at `to` then.
  [[nodiscard]] const std::byte* receive(Way& way, std::byte* to, std::size_t bytes);
  void release(Way& way);
  [[nodiscard]] std::size_t message_bytes() const noexcept { return lanes_.slot_bytes; }
  [[nodiscard]] std::size_t block_bytes() const noexcept { return blocks_.slot_bytes; }

  /// From one rank to another, in the order of the calls; see baton::send().
  void send_mail(int to, const std::byte* data, std::size_t bytes, std::uint64_t fingerprint,
                 std::chrono::nanoseconds timeout);
  void receive_mail(int from, std::byte* data, std::size_t bytes, std::uint64_t fingerprint,
                    std::chrono::nanoseconds timeout);

  /// Tells all members why this rank gives up: nothing that they wait for will come from it.
  void complain(const Error& error) noexcept;
  /// Throws what another member has complained of, if one has.
  void look() const;
  /// Throws peer_died, in the words of the domain, if a member is dead.
  void check_members() const { window_.check_members(); }

 private:
  /// What this rank called, if somebody asks.
  struct alignas(kLine) CallLine {
    std::uint64_t call;
    std::uint64_t fingerprint;
    std::uint64_t history;
  };
  static constexpr std::size_t kTextBytes = 496;
  /// Why another member has given up.
  struct alignas(kLine) Complaint {
    std::uint64_t told;
    std::uint32_t code;
    std::uint32_t bytes;
    char text[kTextBytes];  // the message, then the notes, a line each
  };
  /// In front of each chunk of a message between ranks.
  static constexpr std::size_t kMailHead = kLine;

  struct Layout {
    explicit Layout(const HostMap& map) noexcept;
    std::size_t complaints;
    ChannelLayout lanes;
    ChannelLayout blocks;
    ChannelLayout mail;
    std::size_t bytes;
  };

  Link(Domain& domain, const HostMap& map, const Layout& layout);
  [[nodiscard]] std::size_t complaint_of(int rank) const noexcept {
    return complaints_ + static_cast<std::size_t>(rank) * sizeof(Complaint);
  }
  void wait_told(int from, std::size_t offset, std::uint64_t value, std::chrono::nanoseconds timeout) const;
  [[noreturn]] void throw_mismatch(int peer) const;

  std::string domain_name_;
  int rank_;
  int size_;
  std::size_t complaints_;
  std::size_t hosts_;
  ChannelLayout lanes_;
  ChannelLayout blocks_;
  ChannelLayout mail_;
  RawWindow window_;
  std::vector<Way> ways_;  // by host, then by rank
  std::vector<Channel> to_rank_;
  std::vector<std::byte> letter_;
  std::vector<std::unique_ptr<Transfer>> sending_;
  std::uint64_t calls_ = 0;
  std::uint64_t history_ = 0;
  std::chrono::nanoseconds timeout_{0};
};

}  // namespace baton::collectives
