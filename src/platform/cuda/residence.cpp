#include "platform/cuda/residence.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>

#include <fmt/format.h>

#include <baton/error.hpp>
#include <baton/options.hpp>

#include <pto/target/cuda/leaving.hpp>

#include "platform/cuda/gpu.hpp"

namespace baton::cuda {
namespace {

constexpr std::size_t kCacheLine = 64;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::size_t in_lines(std::size_t bytes) { return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine; }

/// Words that the GPU reads and writes, too.
template <class T>
T read_word(const T& word, std::memory_order order) {
  return std::atomic_ref(const_cast<T&>(word)).load(order);
}
template <class T>
void write_word(T& word, T value, std::memory_order order) {
  std::atomic_ref(word).store(value, order);
}

/// A word of a ring, which the GPU reads again and again: past the caches where that is possible, so that neither waits
/// for the other. What is written so is there when the bell has rung.
void write_whole(Word& word, const std::uint32_t* parts, std::uint32_t lap) {
#if defined(__SSE2__)
  _mm_stream_si128(reinterpret_cast<__m128i*>(&word),
                   _mm_set_epi32(static_cast<int>(lap), static_cast<int>(parts[2]), static_cast<int>(parts[1]),
                                 static_cast<int>(parts[0])));
#else
  std::memcpy(word.part, parts, sizeof word.part);
  // Releases the parts to a reader of the word at once: land().
  write_word(word.lap, lap, std::memory_order_release);
#endif
}

}  // namespace

/// As leaving.hpp wants it. Pairs with KeeperWords.
struct HostSide {
  Residence& cores;
  void ring(std::uint64_t commands) const {
#if defined(__SSE2__)
    _mm_sfence();
#endif
    write_word(cores.host_->bell.commands, commands, std::memory_order_seq_cst);
  }
  [[nodiscard]] bool have_left() const {
    return read_word(cores.host_->left.launch, std::memory_order_seq_cst) == cores.launches_;
  }
};

Residence::Residence(Gpu& gpu)
    : gpu_(gpu),
      stream_(OwnedStream::Waits::for_nobody),
      cores_(static_cast<std::size_t>(gpu.core_count())),
      shared_(gpu.shared(), sizeof(HostWords) + in_lines(cores_ * sizeof(std::uint32_t)) +
                                cores_ * kPlaces * kPlaceWords * sizeof(Word)),
      given_(cores_),
      seen_(cores_) {
  auto* at = static_cast<std::byte*>(shared_.get());
  host_ = new (at) HostWords{};
  at += sizeof(HostWords);
  ended_ = reinterpret_cast<std::uint32_t*>(at);
  at += in_lines(cores_ * sizeof(std::uint32_t));
  rings_ = reinterpret_cast<Word*>(at);
  const std::size_t core_words = cores_ * sizeof(CoreWords);
  constexpr std::size_t kOwnWords = 64;  // gate and stop
  words_ = gpu.memory(core_words + kOwnWords + cores_ * std::size_t{kConditionBytes});
  stay_.rings = rings_;
  stay_.host = host_;
  stay_.ended = ended_;
  stay_.cores = words_.as<CoreWords>();
  stay_.gate = reinterpret_cast<std::uint64_t*>(words_.address() + core_words);
  stay_.idle_ns = static_cast<std::uint64_t>(options().gpu_stay.count());
  stay_.run.stop = reinterpret_cast<std::uint32_t*>(stay_.gate + 1);
  stay_.run.lost = &host_->lost.peers;
  stay_.run.conditions = reinterpret_cast<unsigned char*>(words_.address() + core_words + kOwnWords);
  stay_.run.failure = gpu.failure();
  gpu.describe_buffers(stay_.run);
  gpu.shared().add(*this);
}

Residence::~Residence() {
  gpu_.shared().remove(*this);
  leave();
}

void Residence::use(const std::shared_ptr<const Program>& program) {
  if (program_ == program) return;
  leave();
  program_ = program;
}

std::uint64_t Residence::look(std::size_t core) noexcept {
  // Pairs with tell_host(): what the commands wrote is there.
  const std::uint32_t word = read_word(ended_[core], std::memory_order_acquire);
  return seen_[core] += word - static_cast<std::uint32_t>(seen_[core]);
}

void Residence::write(std::size_t core, const std::uint32_t* parts, std::uint32_t words) noexcept {
  const auto number = static_cast<std::uint32_t>(given_[core]++);
  Word* const place = rings_ + (core * kPlaces + place_of(number)) * kPlaceWords;
  const std::uint32_t lap = lap_of(number);
  for (std::uint32_t i = 0; i < words; ++i, parts += 3) write_whole(place[i], parts, lap);
  // Whole lines are written faster.
  constexpr std::array<std::uint32_t, 3> kNothing{};
  for (std::uint32_t i = words; i % kLineWords != 0; ++i) write_whole(place[i], kNothing.data(), lap);
  ++commands_;
}

void Residence::ring() {
  // With arguments of its own: nobody else launches these cores.
  if (cuda::ring(HostSide{*this}, commands_) || !launched_) launch();
}

void Residence::launch() {
  const Driver& driver = Driver::get();
  stay_.launch = ++launches_;
  void* parameters[] = {&stay_};
  const auto shared = static_cast<unsigned>(kControlBytes + stay_.run.buffer_bytes[0]);
  driver.check("starting the cores of a chip",
               driver.launch_together(program_->stay(), static_cast<unsigned>(cores_), 1, 1, gpu_.threads_of_core(), 1,
                                      1, shared, stream_.get(), parameters));
  launched_ = true;
}

void Residence::leave() noexcept {
  if (!launched_ || broken_) return;
  write_word(host_->bell.quit, launches_, std::memory_order_release);
  try {
    wait_for_end();
  } catch (const std::exception&) {
    broken_ = true;  // the next user of the GPU learns why
  }
  launched_ = false;
}

void Residence::wait_for_end() {
  const std::int64_t limit = now_ns() + std::chrono::nanoseconds(kGrace).count();
  while (true) {
    const Result result = Driver::get().stream_query(stream_.get());
    if (result == 0) return;
    if (result != kNotReady) Driver::get().check("waiting for the cores of a chip", result);
    if (now_ns() > limit) {
      throw Error(Code::wait_timeout, "cores of the GPU do not come to an end",
                  {"this process cannot use the GPU any more"});
    }
    std::this_thread::yield();
  }
}

void Residence::reset() {
  try {
    wait_for_end();
  } catch (...) {
    broken_ = true;
    throw;
  }
  launched_ = false;
  gpu_.clear("clearing the words of cores", words_.address(), words_.bytes());
  std::memset(rings_, 0, cores_ * kPlaces * kPlaceWords * sizeof(Word));
  std::memset(ended_, 0, cores_ * sizeof(std::uint32_t));
  *host_ = {};
  launches_ = 0;
  commands_ = 0;
  ++resets_;
  std::ranges::fill(given_, 0);
  std::ranges::fill(seen_, 0);
}

std::uint64_t Residence::progress() noexcept {
  look_at_all();
  return std::accumulate(seen_.begin(), seen_.end(), std::uint64_t{0});
}

Residence::Patience::Patience(Residence& cores, const BatonRunOptions& options) : cores_(cores), options_(options) {}

bool Residence::Patience::look() {
  constexpr std::uint64_t kLooksBetweenFailures = 16;
  constexpr std::uint64_t kLooksBetweenFarOnes = 4096;
  ++looks_;
  if (looks_ % kLooksBetweenFailures != 0) return true;
  // Pairs with end_run().
  if (read_word(cores_.gpu_.failure()->is_set, std::memory_order_acquire) != 0) return false;
  if (looks_ % kLooksBetweenFarOnes == 0) look_far();
  return true;
}

void Residence::Patience::look_far() {
  const bool lost = options_.has_lost_peers != nullptr && options_.has_lost_peers(options_.context) != 0;
  write_word(cores_.host_->lost.peers, lost ? 1U : 0U, std::memory_order_relaxed);
  const std::int64_t now = now_ns();
  const std::uint64_t progress = cores_.progress();
  if (progress_at_ == 0 || progress != progress_) {
    progress_ = progress;
    progress_at_ = now;
  }
  const Result result = Driver::get().stream_query(cores_.stream_.get());
  if (result != 0 && result != kNotReady) {
    cores_.broken_ = true;
    throw GpuDown{result};
  }
  const std::chrono::nanoseconds limit = std::chrono::nanoseconds(options_.run_limit_ns) + kGrace;
  if (options_.run_limit_ns != 0 && now - progress_at_ > limit.count()) {
    cores_.broken_ = true;
    throw Error(Code::wait_timeout,
                fmt::format("a kernel has run for more than {} s on the GPU, which cannot interrupt it",
                            std::chrono::duration<double>(limit).count()),
                {"this process cannot use the GPU any more"});
  }
  std::this_thread::yield();
}

}  // namespace baton::cuda
