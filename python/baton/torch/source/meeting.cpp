#include "meeting.hpp"

#include <unistd.h>

#include <array>
#include <fstream>
#include <random>

#include <c10/util/Exception.h>

namespace baton::process_group {
namespace {

constexpr const char* kRefusal = "!";

/// The keys of one meeting. A store may see several of the same group: one that was destroyed and made again.
class Keys {
 public:
  Keys(c10d::Store& store, int rank)
      : prefix_("baton/" + std::to_string(store.add("baton/meetings/" + std::to_string(rank), 1)) + "/") {}
  [[nodiscard]] std::string rendezvous() const { return prefix_ + "rendezvous"; }
  [[nodiscard]] std::string arrival(int rank) const { return prefix_ + "rank/" + std::to_string(rank); }

 private:
  std::string prefix_;
};

/// Different on each host: its name, and a number that it drew when it started.
std::string this_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  return std::string(name.data()) + " " + boot;
}

std::string host_name(const std::string& host) { return host.substr(0, host.find(' ')); }

std::string text_of(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

void put(c10d::Store& store, const std::string& key, const std::string& value) {
  store.set(key, std::vector<std::uint8_t>(value.begin(), value.end()));
}

/// "1, 2, 5"
std::string missing_ranks(c10d::Store& store, const Keys& keys, int size) {
  std::string missing;
  for (int rank = 0; rank < size; ++rank) {
    if (store.check({keys.arrival(rank)})) continue;
    if (!missing.empty()) missing += ", ";
    missing += std::to_string(rank);
  }
  return missing;
}

/// Rank 0: waits for the others, and says where they meet or why they cannot.
std::string invite(c10d::Store& store, const Keys& keys, int size, std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::string refusal;
  for (int rank = 1; rank < size && refusal.empty(); ++rank) {
    try {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      store.wait({keys.arrival(rank)}, std::max(left, std::chrono::milliseconds(1)));
    } catch (const std::exception&) {
      const std::string missing = missing_ranks(store, keys, size);
      if (missing.empty()) throw;
      refusal = c10::str("rank 0 waited ", timeout.count(), " ms for ranks ", missing, " of ", size,
                         " to make the process group");
      break;
    }
    const std::string host = text_of(store.get(keys.arrival(rank)));
    if (host != this_host()) {
      refusal = c10::str("rank 0 runs on ", host_name(this_host()), ", rank ", rank, " on ", host_name(host),
                         "; the ranks of a group must share a host");
    }
  }
  if (!refusal.empty()) {
    put(store, keys.rendezvous(), kRefusal + refusal);
    C10_THROW_ERROR(DistBackendError, "baton: " + refusal);
  }
  std::random_device random;
  const std::string rendezvous = c10::str("shm:torch-", random(), "-", random(), "-", random());
  put(store, keys.rendezvous(), rendezvous);
  return rendezvous;
}

}  // namespace

std::string meet(c10d::Store& store, int rank, int size, std::chrono::milliseconds timeout) {
  const Keys keys(store, rank);
  put(store, keys.arrival(rank), this_host());
  if (rank == 0) return invite(store, keys, size, timeout);
  try {
    store.wait({keys.rendezvous()}, timeout);
  } catch (const std::exception& error) {
    C10_THROW_ERROR(DistBackendError, c10::str("baton: rank ", rank, " waited ", timeout.count(),
                                               " ms for rank 0 to make the process group: ", error.what()));
  }
  const std::string rendezvous = text_of(store.get(keys.rendezvous()));
  if (rendezvous.starts_with(kRefusal)) C10_THROW_ERROR(DistBackendError, "baton: " + rendezvous.substr(1));
  return rendezvous;
}

}  // namespace baton::process_group
