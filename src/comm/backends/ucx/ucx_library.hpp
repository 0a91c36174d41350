// UCX, loaded when a job spans hosts: machines without it lose nothing else.
#pragma once

#include <ucp/api/ucp.h>

#include "base/shared_library.hpp"

namespace baton::ucx {

#define BATON_UCX_FUNCTIONS(X)      \
  X(ucp_config_read)                \
  X(ucp_config_modify)              \
  X(ucp_config_release)             \
  X(ucp_init_version)               \
  X(ucp_cleanup)                    \
  X(ucp_worker_create)              \
  X(ucp_worker_destroy)             \
  X(ucp_worker_query)               \
  X(ucp_worker_release_address)     \
  X(ucp_listener_create)            \
  X(ucp_listener_destroy)           \
  X(ucp_listener_query)             \
  X(ucp_listener_reject)            \
  X(ucp_worker_get_efd)             \
  X(ucp_worker_arm)                 \
  X(ucp_worker_progress)            \
  X(ucp_worker_set_am_recv_handler) \
  X(ucp_ep_create)                  \
  X(ucp_ep_close_nbx)               \
  X(ucp_am_send_nbx)                \
  X(ucp_am_recv_data_nbx)           \
  X(ucp_am_data_release)            \
  X(ucp_request_check_status)       \
  X(ucp_request_free)               \
  X(ucs_status_string)

/// Its functions, by the names that UCX gives them.
struct UcxLibrary {
  SharedLibrary file;
#define BATON_UCX_MEMBER(name) decltype(&::name) name;
  BATON_UCX_FUNCTIONS(BATON_UCX_MEMBER)
#undef BATON_UCX_MEMBER
};

/// Loaded at the first call, and never unloaded. Throws Error (unsupported) if it is not there.
[[nodiscard]] const UcxLibrary& ucx_library();

}  // namespace baton::ucx
