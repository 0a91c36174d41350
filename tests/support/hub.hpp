// Where the ranks of a test meet that are on several hosts: a plain implementation of comm::Rendezvous. Its middle, the
// hub, is a thread of the test; ranks reach it through a Unix socket with a path, which network namespaces share.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.hpp"
#include "comm/rendezvous.hpp"

namespace baton::test {

class Hub {
 public:
  Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;
  ~Hub();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  struct Guest;
  struct Job;
  void run();
  void admit();
  bool serve(Guest& guest);
  static void tell_end(Job& job, const std::vector<std::byte>& message, std::uint32_t ended);

  std::string path_;
  UniqueFd listener_;
  UniqueFd poke_;
  std::atomic<bool> stop_{false};
  std::vector<std::unique_ptr<Guest>> guests_;
  std::map<std::string, Job> jobs_;
  std::thread thread_;
};

/// What a rank has to know beforehand.
struct HubPlace {
  std::string hub;  // its path
  std::string job;
  std::uint32_t rank;
  std::vector<std::uint32_t> host_of;  // by rank
  std::string address;
};

/// Hosts are called "a", "b", "c" ...
[[nodiscard]] std::unique_ptr<comm::Rendezvous> meet_at_hub(HubPlace place);

}  // namespace baton::test
