// Where the ranks of a job over several hosts meet: who is there, what each has to tell the others, and who ended.
//
// How they meet is not said here: agents that `baton run --hosts` started, a launcher of a cluster, or a test. What
// comes through is trusted only as far as the one who implements this has checked who sent it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "wire/control.hpp"

namespace baton::comm {

/// How a rank ended its membership, or was found to be gone.
struct RankEnd {
  std::uint32_t rank = 0;
  /// `left`: it said goodbye. `dead`: everything else; then `kind`, `value` and `reason` say what is known.
  wire::RankState state = wire::RankState::dead;
  wire::EndKind kind = wire::EndKind::unknown;
  std::uint32_t value = 0;  // a signal, an exit code or a Code, as `kind` says
  std::string reason;       // "std::runtime_error: no such file", "host b does not answer"; may be empty
  /// Which of its memberships, from 1 on: programs may follow each other as one rank. Those who pass ends on count.
  std::uint32_t membership = kForGood;
  static constexpr std::uint32_t kForGood = ~std::uint32_t{0};
};

/// A record of one rank, of any length, also none.
using RankRecord = std::vector<std::byte>;

/// One rank's view. Ranks are numbered 0..size()-1 over all hosts, hosts 0..host_count()-1; which rank runs on which
/// host is the same for all, in any order, and every host has at least one rank. What is const never changes and may be
/// asked by any thread.
class Rendezvous {
 public:
  Rendezvous() = default;
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;
  /// After it nobody is called any more. Without a farewell before, the others are told that this rank died.
  virtual ~Rendezvous() = default;

  /// The job's name: equal at all ranks, different for any two jobs that run at once.
  [[nodiscard]] virtual const std::string& job() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t rank() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t host_count() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t host_of(std::uint32_t rank) const noexcept = 0;
  /// As people know it: "a", "node17". For messages; two hosts may have the same.
  [[nodiscard]] virtual const std::string& host_name(std::uint32_t host) const noexcept = 0;
  /// The address of the interface of this rank's host over which it reaches the others, as "10.0.0.1"; empty if any
  /// will do.
  [[nodiscard]] virtual const std::string& address() const noexcept = 0;

  /// Gives `record` to all ranks and returns those of all, by rank. Collective: every rank makes the same sequence of
  /// calls; any number of them; one at a time. Throws join_timeout with those that are missing, or peer_died when a
  /// rank ends first.
  [[nodiscard]] virtual std::vector<RankRecord> exchange(std::span<const std::byte> record,
                                                         const Deadline& deadline) = 0;

  /// From now on `told` is called once for the end of every other rank, of this host and of others; also for those
  /// that ended before. On any thread, one call at a time; it returns at once and does not call back into this object.
  /// Once per object.
  virtual void on_end(std::function<void(const RankEnd&)> told) = 0;

  /// Tells all ranks that `end.rank` ended: this rank itself as it leaves or fails, or another of its host whose end it
  /// saw. What is known already stays. Waits for nobody; any thread.
  virtual void report_end(const RankEnd& end) noexcept = 0;
};

}  // namespace baton::comm
