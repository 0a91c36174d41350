// The C interface of the communication layer, with exceptions for codes.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <charconv>

#include <baton/comm.h>
#include <baton/error.hpp>

#include "bind.hpp"
#include "interruptible.hpp"

namespace baton::python {
namespace {

/// On the thread that made the call: the message is that thread's.
void check(int status) {
  if (status != 0) throw Error(error_info(static_cast<Code>(status)).code, comm_last_error());
}

CommHandle handle_of(std::uint64_t number) { return reinterpret_cast<CommHandle>(number); }

std::uint64_t init(int rank, int nranks, const std::string& rendezvous) {
  return interruptibly([=] {
    CommHandle handle = comm_init(rank, nranks, nullptr, rendezvous.c_str());
    if (handle == nullptr) throw Error(Code::join_refused, comm_last_error());
    return reinterpret_cast<std::uint64_t>(handle);
  });
}

std::uint64_t alloc_windows(std::uint64_t handle, std::size_t bytes) {
  return interruptibly([=] {
    std::uint64_t context = 0;
    check(comm_alloc_windows(handle_of(handle), bytes, &context));
    return context;
  });
}

std::pair<std::uint64_t, std::uint64_t> alloc_domain_windows(std::uint64_t handle, std::uint64_t id,
                                                             const std::vector<std::uint32_t>& ranks,
                                                             std::uint32_t domain_rank, std::size_t bytes) {
  return interruptibly([=] {
    std::pair<std::uint64_t, std::uint64_t> made;
    check(comm_alloc_domain_windows(handle_of(handle), id, ranks.data(), ranks.size(), domain_rank, bytes, &made.first,
                                    &made.second));
    return made;
  });
}

}  // namespace

void bind_comm(nb::module_& module) {
  module.def("comm_init", init, nb::arg("rank"), nb::arg("nranks"), nb::arg("rendezvous"),
             "Joins the group `rendezvous` as `rank` of `nranks`; blocks until all have joined. Returns a handle.");
  module.def("comm_alloc_windows", alloc_windows, nb::arg("handle"), nb::arg("nbytes"),
             "Gives every rank a zeroed window. Returns the address of this rank's CommContext.");
  module.def(
      "comm_get_local_window_base",
      [](std::uint64_t handle) {
        std::uint64_t base = 0;
        check(comm_get_local_window_base(handle_of(handle), &base));
        return base;
      },
      nb::arg("handle"), "The address of this rank's own window.");
  module.def(
      "comm_get_window_size",
      [](std::uint64_t handle) {
        std::size_t bytes = 0;
        check(comm_get_window_size(handle_of(handle), &bytes));
        return bytes;
      },
      nb::arg("handle"), "How many bytes each rank's window has.");
  module.def(
      "comm_derive_context",
      [](std::uint64_t handle, const std::vector<std::uint32_t>& ranks, std::uint32_t domain_rank, std::size_t offset,
         std::size_t bytes) {
        std::uint64_t context = 0;
        check(comm_derive_context(handle_of(handle), ranks.data(), ranks.size(), domain_rank, offset, bytes, &context));
        return context;
      },
      nb::arg("handle"), nb::arg("rank_ids"), nb::arg("domain_rank"), nb::arg("offset"), nb::arg("nbytes"),
      "The CommContext of some ranks, over a part of their windows. Returns its address.");
  module.def(
      "comm_alloc_domain_windows", alloc_domain_windows, nb::arg("handle"), nb::arg("id"), nb::arg("rank_ids"),
      nb::arg("domain_rank"), nb::arg("nbytes"),
      "Gives some ranks windows of their own. Returns the address of the CommContext, and of this rank's window.");
  module.def(
      "comm_release_domain_windows",
      [](std::uint64_t handle, std::uint64_t context) {
        check(comm_release_domain_windows(handle_of(handle), context));
      },
      nb::arg("handle"), nb::arg("context"), "Gives the windows of a domain back.");
  module.def(
      "comm_barrier", [](std::uint64_t handle) { run_interruptibly([=] { check(comm_barrier(handle_of(handle))); }); },
      nb::arg("handle"), "Returns when every rank has arrived as often as this one.");
  module.def(
      "comm_destroy", [](std::uint64_t handle) { run_interruptibly([=] { check(comm_destroy(handle_of(handle))); }); },
      nb::arg("handle"), "Leaves the group. The handle is not to be used any more.");
}

}  // namespace baton::python
