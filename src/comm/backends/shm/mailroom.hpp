// The mail of one rank: sorted as it comes, kept until asked for.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "comm/backends/shm/mail_socket.hpp"
#include "comm/control_setup.hpp"
#include "comm/shared_memory.hpp"

namespace baton::shm {

/// The mail address of `rank` in the job `token`.
[[nodiscard]] std::string mail_address(const comm::JobToken& token, std::uint32_t rank);

/// Any thread may call any function.
class Mailroom {
 public:
  Mailroom(const comm::JobToken& token, std::uint32_t rank);

  [[nodiscard]] int fd() const noexcept { return socket_.fd(); }

  void send(std::uint32_t to, const wire::Mail& mail, int descriptor, Deadline deadline);

  /// Sorts what has come, or while it is flooded a part of it: fd() then stays readable. True if a rank wrote that it
  /// left.
  [[nodiscard]] bool sort();

  /// The segment that came for `key`; nullptr if none did.
  [[nodiscard]] std::shared_ptr<comm::SharedMemory> collect(wire::AllocationKey key);

 private:
  struct Parcel {
    UniqueFd descriptor;
    std::uint64_t bytes;
  };

  comm::JobToken token_;
  MailSocket socket_;
  std::mutex sending_;
  std::mutex mutex_;
  std::map<wire::AllocationKey, Parcel> parcels_;  // guarded by mutex_
};

}  // namespace baton::shm
