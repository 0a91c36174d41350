#include "job/hosts/trace_collector.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "comm/wait_record.hpp"

namespace baton::job {
namespace {

constexpr int kQuestions = 16;

/// Numbers of hosts in the file: 0 is that of this one.
constexpr std::uint32_t number_of(std::uint32_t host) { return host + 1; }

/// Puts events into a ring as its writer did, who is on another host.
void add_events(EventChunk& to, std::uint64_t first, std::string_view bytes) {
  const std::uint64_t written = to.ring.written.load(std::memory_order_relaxed);
  const std::uint64_t count = bytes.size() / sizeof(EventRecord);
  if (count == 0 || first + count <= written) return;
  // What a reader must not take for events: those that were overwritten, and those that never came.
  std::uint64_t valid = to.ring.claimed.load(std::memory_order_relaxed);
  valid -= std::min(valid, kChunkEvents);
  if (first > written) valid = first;
  valid = std::max(valid, first + count - std::min(first + count, kChunkEvents));
  to.ring.claimed.store(valid + kChunkEvents, std::memory_order_relaxed);
  // Pairs with order_loads() in read_ring().
  order_stores();
  for (std::uint64_t i = 0; i < count; ++i) {
    RingWriter::Words words;
    std::memcpy(words.data(), bytes.data() + i * sizeof words, sizeof words);
    EventSlot& slot = to.slots[(first + i) & (kChunkEvents - 1)];
    for (std::size_t word = 0; word < kEventWords; ++word)
      slot.words[word].store(words[word], std::memory_order_relaxed);
  }
  // Pairs with the load in read_ring().
  to.ring.written.store(first + count, std::memory_order_release);
}

}  // namespace

TraceCollector::TraceCollector(const std::string& path, const std::vector<std::string>& hosts, Send send)
    : file_(path), hosts_(hosts.size()), send_(std::move(send)) {
  for (std::uint32_t host = 0; host < hosts.size(); ++host) {
    hosts_[host].chunk = file_.add_chunk(ChunkKind::host, {.host = number_of(host)});
    auto& chunk = *static_cast<HostChunk*>(hosts_[host].chunk.data());
    std::memcpy(chunk.name, hosts[host].data(), std::min(hosts[host].size(), sizeof chunk.name - 1));
  }
}

void TraceCollector::compare_clocks(std::uint32_t host) {
  const bool asks = hosts_[host].questions > 0;
  hosts_[host].questions = kQuestions;
  if (!asks) ask(host);
}

void TraceCollector::look_at_clock(std::uint32_t host) {
  if (hosts_[host].questions > 0) return;
  hosts_[host].questions = 1;
  ask(host);
}

void TraceCollector::ask(std::uint32_t host) { send_(host, encode(ClockQuestion{comm::monotonic_ns()})); }

void TraceCollector::on_clock(std::uint32_t host, const ClockAnswer& answer) {
  const ClockSample sample = sample_of(answer.sent_ns, answer.reading, comm::monotonic_ns());
  auto& chunk = *static_cast<HostChunk*>(hosts_[host].chunk.data());
  const std::uint64_t number = chunk.samples_taken.load(std::memory_order_relaxed);
  HostSample& to = chunk.samples[place_of_sample(number)];
  to.ticks.store(sample.there.ticks, std::memory_order_relaxed);
  to.there_ns.store(sample.there.ns, std::memory_order_relaxed);
  to.here_ns.store(sample.here_ns, std::memory_order_relaxed);
  to.error_ns.store(sample.error_ns, std::memory_order_relaxed);
  // Pairs with the load of who reads the file.
  chunk.samples_taken.store(number + 1, std::memory_order_release);
  if (hosts_[host].questions > 0 && --hosts_[host].questions > 0) ask(host);
}

void TraceCollector::on_part(std::uint32_t host, const TracePart& part) {
  ++parts_;
  if (gave_up_) return;
  try {
    store(host, part);
  } catch (const Error& error) {
    if (error.code() == Code::protocol) throw;
    // The job need not fail because a disk is full.
    gave_up_ = true;
    log::warn("the trace cannot be written: {}; no more follows", error.message());
  }
}

ChunkOwner TraceCollector::owner_of(std::uint32_t host, const TracePart& part) {
  const auto [process, is_new] = hosts_[host].processes.try_emplace(part.process, 0);
  if (is_new) process->second = file_.add_process();
  return {process->second, part.thread, number_of(host)};
}

FileMapping& TraceCollector::open_chunk(std::uint32_t host, const TracePart& part) {
  const auto found = hosts_[host].open.find(part.chunk);
  if (found != hosts_[host].open.end()) {
    if (static_cast<const ChunkHeader*>(found->second.data())->kind != part.kind) {
      fail(Code::protocol, "chunk {} changes its kind", part.chunk);
    }
    return found->second;
  }
  FileMapping made = file_.add_chunk(part.kind, owner_of(host, part));
  return hosts_[host].open.emplace(part.chunk, std::move(made)).first->second;
}

void TraceCollector::store(std::uint32_t host, const TracePart& part) {
  switch (part.kind) {
    case ChunkKind::full: file_.add_full(owner_of(host, part), part.first, std::as_bytes(std::span(part.bytes))); break;
    case ChunkKind::live:
      add_events(*static_cast<EventChunk*>(open_chunk(host, part).data()), part.first, part.bytes);
      break;
    case ChunkKind::texts: {
      auto& chunk = *static_cast<TextChunk*>(open_chunk(host, part).data());
      std::memcpy(chunk.text + part.first, part.bytes.data(), part.bytes.size());
      // Pairs with the load in read_texts().
      chunk.text_header.used.store(part.first + part.bytes.size(), std::memory_order_release);
      break;
    }
    case ChunkKind::host: break;
  }
  file_.stamp();
}

}  // namespace baton::job
