// PMIx, by which processes of a launcher tell each other something before they have met. Its library is loaded at run
// time, and only where a launcher has a server: mpirun of Open MPI, srun --mpi=pmix.
#pragma once

#include <memory>
#include <string>

#include "base/deadline.hpp"

namespace baton::job {

/// This process as a client of its launcher's server, until the object goes.
class Pmix {
 public:
  /// Nothing where there is no server or no library; `why` says so.
  [[nodiscard]] static std::unique_ptr<Pmix> open(std::string& why);
  virtual ~Pmix() = default;
  Pmix(const Pmix&) = delete;
  Pmix& operator=(const Pmix&) = delete;

  /// For get() of all processes of the job, after their next fence().
  virtual void put(const std::string& key, const std::string& value) = 0;
  /// Until all processes of the job have called it. Throws Error (join_timeout) at the deadline.
  virtual void fence(const Deadline& deadline) = 0;
  /// What `rank` has put.
  [[nodiscard]] virtual std::string get(std::uint32_t rank, const std::string& key, const Deadline& deadline) = 0;

 protected:
  Pmix() = default;
};

}  // namespace baton::job
