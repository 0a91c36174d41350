// Domains: an ordered set of ranks that share windows.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <baton/export.hpp>
#include <baton/window.hpp>

namespace baton {

namespace comm {
class DomainState;
struct DomainAccess;
}  // namespace comm

/// What a library keeps with a domain; see Domain::attachment().
class BATON_API Attachment {
 public:
  Attachment() = default;
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;
  virtual ~Attachment();
};

/// One rank's handle to a domain. Copies refer to the same membership; the last copy of a job's handle leaves the job.
class BATON_API Domain {
 public:
  Domain() = default;
  explicit Domain(std::shared_ptr<comm::DomainState> state) : state_(std::move(state)) {}

  /// This rank's position in the domain, and the number of members.
  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  [[nodiscard]] const std::string& name() const;
  /// The members, as ranks of the job.
  [[nodiscard]] const std::vector<int>& members() const;
  /// For each member the number of its host: 0, 1, 2 ... in the order of their first members.
  [[nodiscard]] const std::vector<int>& hosts() const;

  /// Gives every member `count` zeroed elements under `name`. Collective: all members call with the same arguments in
  /// the same order; what differs is an error that shows both sides.
  template <class T>
  [[nodiscard]] Window<T> window(std::string_view name, std::size_t count) {
    return Window<T>(raw_window(name, window_bytes(count, sizeof(T))), count);
  }
  [[nodiscard]] Signals signals(std::string_view name, std::size_t count) {
    return Signals(raw_window(name, window_bytes(count, sizeof(std::int32_t))), count);
  }
  [[nodiscard]] RawWindow raw_window(std::string_view name, std::size_t bytes);

  /// Returns when every member has arrived as often as this one. Throws wait_timeout (who is missing), peer_died or
  /// peer_left otherwise, and in_flight if another thread of this rank is in a barrier of this domain.
  void barrier();
  void barrier(std::chrono::nanoseconds timeout);

  /// Leaves the job at once because of a failure, which `reason` tells in one line: the waits of the other ranks end
  /// with peer_died, and show it; those of this rank, on other threads, end with peer_left. For code that catches what
  /// ends a rank; see also leave_because() in join.hpp.
  void leave_because(std::string_view reason) noexcept;

  /// A domain of some members of this one, in the order given. Collective over those alone; the caller is one of them.
  /// Subsets may overlap, nest and exist side by side.
  [[nodiscard]] Domain subset(std::string_view name, std::span<const int> ranks);
  /// A domain of the members of this host, in their order. Collective over those alone. Its waits end with peer_died
  /// when any member of this domain dies, wherever it is.
  [[nodiscard]] Domain subset_here(std::string_view name);

  /// What this rank keeps with the domain under `key`, made by `make` if there is nothing yet. It ends with the last
  /// handle. `make` gets a handle that does not count as one, and neither do the windows that are made with it.
  [[nodiscard]] Attachment& attachment(const void* key, std::unique_ptr<Attachment> (*make)(Domain borrowed)) const;

 private:
  friend struct comm::DomainAccess;
  static std::size_t window_bytes(std::size_t count, std::size_t element_bytes);
  [[nodiscard]] comm::DomainState& state() const;
  std::shared_ptr<comm::DomainState> state_;
};

}  // namespace baton
