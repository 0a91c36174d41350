// One UCX worker: what a rank sends and receives with. Not for two threads at once.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "comm/backends/ucx/ucx_gate.hpp"
#include "comm/backends/ucx/ucx_library.hpp"
#include "comm/backends/ucx/ucx_unseen.hpp"

namespace baton::ucx {

/// Throws Error (system) with UCX's words unless `status` is good.
void check(ucs_status_t status, std::string_view what);

class UcxWorker {
 public:
  /// Over the interface that has `address`, such as "10.0.0.1"; over the first one if it is empty. For a rank of
  /// `rank_count`. A connection has `hello_timeout` to say its hello.
  UcxWorker(const std::string& address, std::uint32_t rank_count, std::chrono::nanoseconds hello_timeout);
  UcxWorker(const UcxWorker&) = delete;
  UcxWorker& operator=(const UcxWorker&) = delete;
  ~UcxWorker();

  [[nodiscard]] ucp_worker_h get() const noexcept { return worker_; }
  /// Where others connect to it: a sockaddr.
  [[nodiscard]] std::vector<std::byte> address() const;
  /// Requests to connect go to `handler`, in progress(): it makes an endpoint of the request, or refuses it.
  void accept_with(ucp_listener_conn_callback_t handler, void* argument) noexcept;
  void refuse(ucp_conn_request_h request) const noexcept { ucx_.ucp_listener_reject(listener_, request); }
  /// Readable when something has happened since arm().
  [[nodiscard]] int event_fd() const noexcept { return event_fd_; }

  /// Whether anything was done.
  bool progress() const noexcept {
    const InUcx unseen;
    return ucx_.ucp_worker_progress(worker_) != 0;
  }
  /// False if something waits to be dealt with: then progress() comes first.
  [[nodiscard]] bool arm() const noexcept { return ucx_.ucp_worker_arm(worker_) != UCS_ERR_BUSY; }

  /// With this others are let in.
  [[nodiscard]] GateKey key() const { return gate_.key(); }
  /// Ends connections of who is slow to say its hello. To be called now and then.
  void send_away_late() const noexcept { gate_.send_away_late(); }

  /// Messages with this number go to `handler`.
  void receive(unsigned number, ucp_am_recv_callback_t handler, void* argument) const;

 private:
  /// Throws if UCX has no network: it would neither connect nor fail. It was told to use `interface`.
  void require_network(const std::string& interface) const;
  void stop_listening() noexcept;
  /// Takes connections at `address`, at a port that the system chooses.
  void listen_at(const std::string& address);
  static void on_connection(ucp_conn_request_h request, void* worker);

  Gate gate_;
  const UcxLibrary& ucx_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_listener_h listener_ = nullptr;
  ucp_listener_conn_callback_t accept_ = nullptr;
  void* accept_argument_ = nullptr;
  int event_fd_ = -1;
};

/// Keeps a worker that others may be connecting to: UCX 1.13 crashes if it is destroyed in the middle of that. It is
/// destroyed some time later, when another one is set aside or the process makes a new one, if ever.
void set_aside(std::unique_ptr<UcxWorker> worker) noexcept;

}  // namespace baton::ucx
