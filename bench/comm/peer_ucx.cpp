// What UCX takes for the same work: ucp_put to memory that UCX allocated, between forked processes.
#include <sched.h>
#include <ucp/api/ucp.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <comm/ping_pong.hpp>
#include <support/arguments.hpp>
#include <support/forked_ranks.hpp>
#include <support/process.hpp>

namespace {

void check(ucs_status_t status, const char* call) {
  if (status != UCS_OK) throw std::runtime_error(std::string(call) + ": " + ucs_status_string(status));
}

/// What a rank tells the others about itself, through the page that all share.
struct Card {
  std::size_t address_bytes = 0;
  std::size_t rkey_bytes = 0;
  std::uint64_t memory = 0;
  std::array<std::byte, 8192> address;
  std::array<std::byte, 4096> rkey;
};

struct Shared {
  bench::Meeting meeting;
  std::array<Card, bench::Meeting::kMostRanks> cards;
};

template <std::size_t N>
std::size_t copy_card_part(std::array<std::byte, N>& target, const void* source, std::size_t bytes) {
  if (bytes > N) throw std::runtime_error("UCX describes itself with " + std::to_string(bytes) + " bytes");
  std::memcpy(target.data(), source, bytes);
  return bytes;
}

/// A worker, memory that the partner writes to, and an endpoint to the partner.
class PutChannel {
 public:
  enum class Waiting { spin, yield };

  PutChannel(Shared& shared, int rank, int ranks, std::size_t bytes, Waiting waiting)
      : waiting_(waiting), source_(bytes) {
    open_worker();
    map_memory(kPayload + bytes);
    publish(shared.cards[static_cast<std::size_t>(rank)]);
    shared.meeting.barrier(ranks);
    connect(shared.cards[static_cast<std::size_t>(bench::partner_of(rank))]);
  }
  PutChannel(const PutChannel&) = delete;
  PutChannel& operator=(const PutChannel&) = delete;

  void send() {
    if (!source_.empty()) {
      put(source_.data(), source_.size(), remote_ + kPayload);
      ucp_worker_fence(worker_);
    }
    ++sent_;
    put(&sent_, sizeof sent_, remote_);
  }
  void receive() {
    ++expected_;
    std::atomic_ref<std::uint64_t> flag(*reinterpret_cast<std::uint64_t*>(base_));
    int polls = 0;
    // Acquire pairs with the fence in the sender's ucp_worker_fence.
    while (flag.load(std::memory_order_acquire) != expected_) {
      if (waiting_ == Waiting::yield) sched_yield();
      if (++polls % kPollsPerProgress == 0) ucp_worker_progress(worker_);
    }
  }
  std::vector<std::byte>& source() { return source_; }
  std::span<std::byte> received() { return {base_ + kPayload, source_.size()}; }

  /// The partner may still need this worker's progress until all ranks have called this.
  void drain() { finish(ucp_worker_flush_nbx(worker_, &kNoParameters)); }

 private:
  static constexpr std::size_t kPayload = 64;
  static constexpr int kPollsPerProgress = 64;
  static constexpr ucp_request_param_t kNoParameters{};

  void open_worker() {
    ucp_config_t* config = nullptr;
    check(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
    ucp_params_t parameters{};
    parameters.field_mask = UCP_PARAM_FIELD_FEATURES;
    parameters.features = UCP_FEATURE_RMA;
    check(ucp_init(&parameters, config, &context_), "ucp_init");
    ucp_config_release(config);
    ucp_worker_params_t worker_parameters{};
    worker_parameters.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker_parameters.thread_mode = UCS_THREAD_MODE_SINGLE;
    check(ucp_worker_create(context_, &worker_parameters, &worker_), "ucp_worker_create");
  }

  void map_memory(std::size_t bytes) {
    ucp_mem_map_params_t parameters{};
    parameters.field_mask =
        UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    parameters.address = nullptr;
    parameters.length = bytes;
    parameters.flags = UCP_MEM_MAP_ALLOCATE;
    check(ucp_mem_map(context_, &parameters, &memory_), "ucp_mem_map");
    ucp_mem_attr_t attributes{};
    attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    check(ucp_mem_query(memory_, &attributes), "ucp_mem_query");
    base_ = static_cast<std::byte*>(attributes.address);
    std::fill_n(base_, bytes, std::byte{0});
  }

  void publish(Card& card) {
    ucp_address_t* address = nullptr;
    std::size_t bytes = 0;
    check(ucp_worker_get_address(worker_, &address, &bytes), "ucp_worker_get_address");
    card.address_bytes = copy_card_part(card.address, address, bytes);
    ucp_worker_release_address(worker_, address);
    void* rkey = nullptr;
    check(ucp_rkey_pack(context_, memory_, &rkey, &bytes), "ucp_rkey_pack");
    card.rkey_bytes = copy_card_part(card.rkey, rkey, bytes);
    ucp_rkey_buffer_release(rkey);
    card.memory = reinterpret_cast<std::uint64_t>(base_);
  }

  void connect(const Card& card) {
    ucp_ep_params_t parameters{};
    parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    parameters.address = reinterpret_cast<const ucp_address_t*>(card.address.data());
    check(ucp_ep_create(worker_, &parameters, &endpoint_), "ucp_ep_create");
    check(ucp_ep_rkey_unpack(endpoint_, card.rkey.data(), &rkey_), "ucp_ep_rkey_unpack");
    remote_ = card.memory;
  }

  void put(const void* source, std::size_t bytes, std::uint64_t target) {
    finish(ucp_put_nbx(endpoint_, source, bytes, target, rkey_, &kNoParameters));
  }

  void finish(ucs_status_ptr_t request) {
    if (request == nullptr) return;
    if (UCS_PTR_IS_ERR(request)) check(UCS_PTR_STATUS(request), "ucp_put_nbx");
    while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker_);
    check(ucp_request_check_status(request), "ucp_put_nbx");
    ucp_request_free(request);
  }

  Waiting waiting_;
  std::vector<std::byte> source_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_mem_h memory_ = nullptr;
  ucp_ep_h endpoint_ = nullptr;
  ucp_rkey_h rkey_ = nullptr;
  std::byte* base_ = nullptr;
  std::uint64_t remote_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t expected_ = 0;
};

/// `--method` is put, or put-yield to give the processor away between polls. The process ends without taking UCX down:
/// its memory goes with it.
void pairs(Shared& shared, int rank, const bench::Arguments& arguments) {
  const int ranks = arguments.ranks;
  bench::pin_in_turns(rank, ranks);
  const auto waiting = arguments.method == "put-yield" ? PutChannel::Waiting::yield : PutChannel::Waiting::spin;
  PutChannel channel(shared, rank, ranks, arguments.bytes, waiting);
  const bench::Measured measured = bench::ping_pong(
      channel, rank, arguments.budget, [&] { shared.meeting.barrier(ranks); },
      [&](double value) { return shared.meeting.mean_of_even(rank, ranks, value); });
  channel.drain();
  shared.meeting.barrier(ranks);
  if (rank == 0) bench::print(measured);
}

}  // namespace

int main(int argc, char** argv) try {
  const bench::Arguments arguments = bench::parse_arguments(argc, argv);
  if (arguments.operation != "pairs") throw std::invalid_argument("no operation '" + arguments.operation + "'");
  if (arguments.ranks % 2 != 0 || arguments.ranks > bench::Meeting::kMostRanks) {
    throw std::invalid_argument("pairs need an even number of ranks, at most " +
                                std::to_string(bench::Meeting::kMostRanks));
  }
  bench::limit_lifetime(arguments.limit_seconds);
  const bench::SharedMemory memory(sizeof(Shared));
  Shared* shared = new (memory.data()) Shared;
  return bench::fork_ranks(arguments.ranks, arguments.limit_seconds,
                           [&](int rank) { pairs(*shared, rank, arguments); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "comm_ucx: %s\n", error.what());
  return 1;
}
