#include "comm/backends/ucx/ucx_worker.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "base/deadline.hpp"
#include "base/fail.hpp"

namespace baton::ucx {
namespace {

/// An address of this host, and the name of the interface that has it.
struct Interface {
  std::string address;
  std::string name;
};

/// The one that has `address`, or the first that others may reach if it is empty. Throws invalid_argument if there is
/// none.
Interface interface_with(const std::string& address) {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) fail_system("getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(first, &::freeifaddrs);
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
    const int family = one->ifa_addr->sa_family;
    const void* bytes = nullptr;
    if (family == AF_INET) bytes = &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr;
    if (family == AF_INET6) bytes = &reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr;
    char text[INET6_ADDRSTRLEN] = {};
    if (bytes == nullptr || ::inet_ntop(family, bytes, text, sizeof text) == nullptr) continue;
    const bool will_do = (one->ifa_flags & IFF_LOOPBACK) == 0 && family == AF_INET;
    if (address.empty() ? will_do : address == text) return {text, one->ifa_name};
  }
  if (address.empty()) fail(Code::invalid_argument, "no interface of this host reaches others");
  fail(Code::invalid_argument, "no interface of this host has the address {}", address);
}

/// `address` as the system wants it, with port 0.
sockaddr_storage parse_address(const std::string& address) {
  sockaddr_storage parsed{};
  auto& four = reinterpret_cast<sockaddr_in&>(parsed);
  auto& six = reinterpret_cast<sockaddr_in6&>(parsed);
  if (::inet_pton(AF_INET, address.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
  } else if (::inet_pton(AF_INET6, address.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
  } else {
    fail(Code::invalid_argument, "\"{}\" is not an address", address);
  }
  return parsed;
}

std::size_t size_of_address(const sockaddr_storage& address) {
  return address.ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
}

class Config {
 public:
  Config() { check(ucx_.ucp_config_read(nullptr, nullptr, &config_), "reading UCX's configuration"); }
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;
  ~Config() { ucx_.ucp_config_release(config_); }

  /// Unless the user has set it.
  void set(const std::string& name, const std::string& value) {
    if (std::getenv(("UCX_" + name).c_str()) != nullptr) return;
    check(ucx_.ucp_config_modify(config_, name.c_str(), value.c_str()), "setting UCX_" + name);
  }
  [[nodiscard]] ucp_config_t* get() const noexcept { return config_; }

 private:
  const UcxLibrary& ucx_ = ucx_library();
  ucp_config_t* config_ = nullptr;
};

/// Workers that are not used any more, and from when on nobody is connecting to them.
class Aside {
 public:
  void add(std::unique_ptr<UcxWorker> worker) {
    const std::lock_guard lock(mutex_);
    destroy_old();
    workers_.emplace_back(Deadline::after(kConnectingTime), std::move(worker));
  }
  void clear_old() {
    const std::lock_guard lock(mutex_);
    destroy_old();
  }

 private:
  static constexpr std::chrono::seconds kConnectingTime{10};
  void destroy_old() {
    std::erase_if(workers_, [](const auto& one) { return one.first.passed(); });
  }
  std::mutex mutex_;
  std::vector<std::pair<Deadline, std::unique_ptr<UcxWorker>>> workers_;
};

Aside& aside() {
  // As UCX itself, it may outlive everything else of this program.
  static Aside& all = *new Aside;
  return all;
}

}  // namespace

void set_aside(std::unique_ptr<UcxWorker> worker) noexcept { aside().add(std::move(worker)); }

void check(ucs_status_t status, std::string_view what) {
  if (status == UCS_OK) return;
  fail(Code::system, "{} failed in UCX: {}", what, ucx_library().ucs_status_string(status));
}

UcxWorker::UcxWorker(const std::string& address, std::uint32_t rank_count, std::chrono::nanoseconds hello_timeout)
    : gate_(rank_count, hello_timeout), ucx_(ucx_library()) {
  aside().clear_old();
  Config config;
  // Ranks of one host have shared memory of their own; ranks of others may seem to be of one, in containers.
  config.set("TLS", "^sm");
  // One lane keeps messages to a rank in order.
  config.set("MAX_EAGER_LANES", "1");
  config.set("MAX_RNDV_LANES", "1");
  const Interface interface = interface_with(address);
  config.set("NET_DEVICES", interface.name);

  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  params.mt_workers_shared = 0;
  check(ucx_.ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config.get(), &context_), "starting");
  ucp_worker_params_t worker_params{};
  worker_params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  // Threads take turns, under a lock of ours.
  worker_params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  const Gate::Opening listens(gate_);
  try {
    check(ucx_.ucp_worker_create(context_, &worker_params, &worker_), "making a worker");
    require_network(interface.name);
    check(ucx_.ucp_worker_get_efd(worker_, &event_fd_), "getting a worker's descriptor");
    listen_at(interface.address);
  } catch (...) {
    stop_listening();
    if (worker_ != nullptr) ucx_.ucp_worker_destroy(worker_);
    ucx_.ucp_cleanup(context_);
    throw;
  }
}

UcxWorker::~UcxWorker() {
  stop_listening();
  ucx_.ucp_worker_destroy(worker_);
  ucx_.ucp_cleanup(context_);
}

void UcxWorker::require_network(const std::string& interface) const {
  // 10 bytes have no network in them, and any network takes more than its address.
  constexpr std::size_t kLeastBytes = 24;
  ucp_worker_attr_t attributes{};
  attributes.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS;
  attributes.address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY;
  check(ucx_.ucp_worker_query(worker_, &attributes), "asking for the networks of a worker");
  ucx_.ucp_worker_release_address(worker_, attributes.address);
  if (attributes.address_length >= kLeastBytes) return;
  std::vector<std::string> notes;
  for (const char* name : {"UCX_TLS", "UCX_NET_DEVICES"}) {
    if (const char* value = std::getenv(name)) notes.push_back(fmt::format("{} is {}", name, value));
  }
  constexpr auto kNetworks = "/sys/class/net";
  if (::access(kNetworks, X_OK) != 0)
    notes.push_back(fmt::format("UCX looks in {}, which cannot be read here", kNetworks));
  throw Error(Code::unsupported,
              fmt::format("UCX finds no network to other hosts; the interface to them is {}", interface),
              std::move(notes),
              "Unset the variables that the message lists, and mount /sys; UCX_LOG_LEVEL=info shows what UCX finds.");
}

void UcxWorker::listen_at(const std::string& address) {
  const sockaddr_storage where = parse_address(address);
  ucp_listener_params_t params{};
  params.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
  params.sockaddr = {reinterpret_cast<const sockaddr*>(&where), static_cast<socklen_t>(size_of_address(where))};
  params.conn_handler = {&UcxWorker::on_connection, this};
  check(ucx_.ucp_listener_create(worker_, &params, &listener_), "listening at " + address);
}

void UcxWorker::stop_listening() noexcept {
  if (listener_ != nullptr) ucx_.ucp_listener_destroy(std::exchange(listener_, nullptr));
}

void UcxWorker::accept_with(ucp_listener_conn_callback_t handler, void* argument) noexcept {
  accept_ = handler;
  accept_argument_ = argument;
}

void UcxWorker::on_connection(ucp_conn_request_h request, void* worker) {
  const CalledByUcx ours;
  auto& self = *static_cast<UcxWorker*>(worker);
  if (self.accept_ == nullptr) return self.refuse(request);
  self.accept_(request, self.accept_argument_);
}

std::vector<std::byte> UcxWorker::address() const {
  ucp_listener_attr_t attributes{};
  attributes.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR;
  check(ucx_.ucp_listener_query(listener_, &attributes), "asking where a worker listens");
  const auto* bytes = reinterpret_cast<const std::byte*>(&attributes.sockaddr);
  return {bytes, bytes + size_of_address(attributes.sockaddr)};
}

void UcxWorker::receive(unsigned number, ucp_am_recv_callback_t handler, void* argument) const {
  ucp_am_handler_param_t params{};
  params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  params.id = number;
  params.cb = handler;
  params.arg = argument;
  check(ucx_.ucp_worker_set_am_recv_handler(worker_, &params), "setting a handler of messages");
}

}  // namespace baton::ucx
