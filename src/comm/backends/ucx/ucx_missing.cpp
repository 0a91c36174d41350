// In place of the backend, where Baton was built without the headers of UCX.
#include "base/fail.hpp"
#include "comm/backends/ucx/ucx_backend.hpp"

namespace baton::ucx {

std::unique_ptr<comm::Backend> join(std::unique_ptr<comm::Rendezvous> rendezvous, const Options& /*options*/) {
  fail(Code::unsupported, "the job \"{}\" is on {} hosts, and this Baton was built without UCX", rendezvous->job(),
       rendezvous->host_count());
}

}  // namespace baton::ucx
