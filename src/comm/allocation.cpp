#include "comm/allocation.hpp"

#include <cstring>
#include <exception>

#include "base/fail.hpp"
#include "base/processors.hpp"
#include "base/recorder.hpp"
#include "comm/delivery.hpp"
#include "wire/names.hpp"

namespace baton::comm {
namespace {

using wire::MemberEntry;
using wire::MemberState;
using wire::SegmentHeader;

SegmentHeader& header_of(const SharedMemory& segment) { return *static_cast<SegmentHeader*>(segment.address()); }

MemberState state_of_entry(const MemberEntry& entry) {
  // Pairs with the store in Handshake::arrive(): the wish is visible with the state.
  return static_cast<MemberState>(entry.state.load(std::memory_order_seq_cst));
}

/// One collective allocation, as one member goes through it.
class Handshake {
 public:
  Handshake(DomainState& domain, std::string_view name, std::uint64_t part_bytes, SegmentUse use)
      : domain_(domain),
        use_(use),
        name_(name.substr(0, wire::kNameBytes)),
        part_bytes_(part_bytes),
        key_{domain.id(), domain.next_sequence()},
        timeout_(domain.world().wait_timeout()),
        deadline_(Deadline::after(timeout_)) {}

  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;
  ~Handshake() {
    if (listens_) domain_.world().path()->delivery().stop_listening(key_);
  }

  std::shared_ptr<SharedMemory> run() {
    const std::uint64_t began = events::tracing() ? ticks() : 0;
    domain_.world().note(wire::Operation::allocating);
    const bool makes_it = domain_.rank() == maker();
    segment_ = makes_it ? offer() : collect();
    if (makes_it && domain_.groups().spans_hosts()) listen();
    if (refusal_) {
      tell_other_hosts();
      // Members of this host learn from this one what other hosts say.
      if (listens_) await_others();
      std::rethrow_exception(refusal_);
    }
    use_(segment_, key_);
    arrive();
    await_others();
    compare_wishes();
    check_layout();
    hide_far_parts();
    domain_.world().note(wire::Operation::running);
    record(began);
    return segment_;
  }

 private:
  /// The member whose segment this one takes.
  [[nodiscard]] std::uint32_t maker() const noexcept { return domain_.groups().here().front(); }

  void record(std::uint64_t began) const {
    if (began == 0 || !events::tracing()) return;
    EventRecord event = domain_.world().event_since(EventKind::allocation, began);
    event.object = events::text(name_);
    event.a = key_.sequence;
    event.b = domain_.size();
    event.c = part_bytes_;
    events::record(event);
  }

  /// More than there is must be an error now: memory is given out when it is touched, and then it is too late.
  void check_memory(std::uint64_t bytes) {
    const std::uint64_t obtainable = memory_obtainable();
    // Windows that were promised and not yet touched are missing in `obtainable`; the machine's total bounds them.
    const MemoryLimits limits = memory_limits();
    const std::uint64_t total = std::min(limits.total + limits.swap_free, limits.cgroup_limit.value_or(UINT64_MAX));
    const std::uint64_t promised = domain_.world().control().window_bytes.load(std::memory_order_relaxed);
    if (bytes != 0 && bytes <= obtainable && promised + bytes <= total) return;
    constexpr double kMiB = 1024.0 * 1024.0;
    throw Error(Code::out_of_memory,
                fmt::format("\"{}\" needs {} x {} bytes, more than this machine can give", name_,
                            domain_.groups().here().size(), part_bytes_),
                {fmt::format("{:.0f} MiB can be had now, {:.0f} MiB are promised to other windows of this job, "
                             "{:.0f} MiB is all there is",
                             static_cast<double>(obtainable) / kMiB, static_cast<double>(promised) / kMiB,
                             static_cast<double>(total) / kMiB)});
  }

  std::shared_ptr<SharedMemory> offer() {
    const wire::SegmentShape shape = wire::segment_shape(domain_.size(), part_bytes_, page_bytes());
    // Every member must learn of a refusal: it comes as a segment without parts, whose entry of member 0 has failed.
    Code refusal = Code::ok;
    try {
      check_memory(shape.bytes == 0 ? 0 : shape.first_part + domain_.groups().here().size() * shape.part_stride);
    } catch (const Error& error) {
      refusal = error.code();
      refusal_ = std::current_exception();
    }
    const wire::SegmentShape given = refusal == Code::ok ? shape : wire::segment_shape(domain_.size(), 0, page_bytes());
    std::vector<std::uint32_t> others;
    for (const std::uint32_t member : domain_.groups().here()) {
      if (member != domain_.rank()) others.push_back(domain_.members()[member]);
    }
    return domain_.world().backend().offer(key_, given.bytes, others, deadline_,
                                           [&](void* memory) { write_header(memory, given, refusal); });
  }

  void write_header(void* memory, const wire::SegmentShape& shape, Code refusal) {
    auto& header = *static_cast<SegmentHeader*>(memory);
    header.magic = wire::kSegmentMagic;
    header.version = wire::kSegmentVersion;
    header.member_count = shape.member_count;
    header.key = key_;
    header.part_bytes = shape.part_bytes;
    header.part_stride = shape.part_stride;
    header.first_part = shape.first_part;
    header.bytes = shape.bytes;
    if (refusal == Code::ok) return;
    MemberEntry& entry = wire::member_entry(header, domain_.rank());
    entry.wished_bytes.store(part_bytes_, std::memory_order_relaxed);
    entry.failure.store(static_cast<std::uint32_t>(refusal), std::memory_order_relaxed);
    wire::store_name(entry.wished_name, name_);
    entry.state.store(static_cast<std::uint32_t>(MemberState::failed), std::memory_order_seq_cst);
  }

  std::shared_ptr<SharedMemory> collect() {
    std::shared_ptr<SharedMemory> segment;
    const auto came = [&] {
      if (!segment) segment = domain_.world().backend().collect(key_);
      return segment != nullptr;
    };
    if (!came() && !domain_.wait(
                       came, deadline_, [this] { return describe_wait(); }, WaitsOn::every_member))
      throw_timeout({maker()});
    if (const char* defect = wire::segment_defect(segment->address(), segment->bytes(), key_, domain_.size())) {
      fail(Code::protocol, "rank {} of \"{}\" sent a segment for \"{}\" that is {}", maker(), domain_.name(), name_,
           defect);
    }
    return segment;
  }

  /// What members of other hosts ask for is written here for all members of this one.
  void listen() {
    listens_ = true;
    domain_.world().path()->delivery().listen(
        key_, [this](std::uint32_t source, std::span<const std::byte> bytes) { take_wish(source, bytes); });
  }

  void take_wish(std::uint32_t source, std::span<const std::byte> bytes) {
    wire::MemberWish wish{};
    if (bytes.size() != sizeof wish) return;
    std::memcpy(&wish, bytes.data(), sizeof wish);
    const bool is_its_own = wish.member < domain_.size() && domain_.members()[wish.member] == source;
    if (!is_its_own || !domain_.groups().is_far(wish.member)) return;
    MemberEntry& entry = wire::member_entry(header_of(*segment_), wish.member);
    entry.wished_bytes.store(wish.bytes, std::memory_order_relaxed);
    entry.failure.store(wish.failure, std::memory_order_relaxed);
    wire::store_name(entry.wished_name, {wish.name, ::strnlen(wish.name, sizeof wish.name)});
    const bool failed = wish.failure != static_cast<std::uint32_t>(Code::ok);
    // As in arrive().
    entry.state.store(static_cast<std::uint32_t>(failed ? MemberState::failed : MemberState::arrived),
                      std::memory_order_seq_cst);
    ring_this_host();
  }

  void tell_other_hosts() {
    const MemberEntry& entry = wire::member_entry(header_of(*segment_), domain_.rank());
    wire::MemberWish wish{};
    wish.member = domain_.rank();
    wish.failure = entry.failure.load(std::memory_order_relaxed);
    wish.bytes = part_bytes_;
    name_.copy(wish.name, sizeof wish.name);
    for (const HostGroups::Group& group : domain_.groups().elsewhere()) {
      domain_.world().path()->post(domain_.members()[group.front()], key_, std::as_bytes(std::span(&wish, 1)));
    }
  }

  void ring_this_host() {
    for (const std::uint32_t member : domain_.groups().here()) domain_.world().ring(domain_.members()[member]);
  }

  /// Nothing lies there: an access is an error, not a write that nobody sees.
  void hide_far_parts() {
    const SegmentHeader& header = header_of(*segment_);
    for (const HostGroups::Group& group : domain_.groups().elsewhere()) {
      for (const std::uint32_t member : group) {
        segment_->revoke(header.first_part + member * header.part_stride, header.part_stride);
      }
    }
  }

  /// Writes this member's wish and lets the others know.
  void arrive() {
    MemberEntry& entry = wire::member_entry(header_of(*segment_), domain_.rank());
    entry.wished_bytes.store(part_bytes_, std::memory_order_relaxed);
    wire::store_name(entry.wished_name, name_);
    // Pairs with the load in state_of_entry(). Sequentially consistent because doorbells are rung after it.
    entry.state.store(static_cast<std::uint32_t>(MemberState::arrived), std::memory_order_seq_cst);
    ring_this_host();
    tell_other_hosts();
  }

  void await_others() {
    std::uint32_t next = 0;
    const auto all_there = [&] {
      while (next < domain_.size() &&
             state_of_entry(wire::member_entry(header_of(*segment_), next)) != MemberState::absent) {
        ++next;
      }
      return next == domain_.size();
    };
    const auto has_arrived = [&](std::uint32_t member) {
      return state_of_entry(wire::member_entry(header_of(*segment_), member)) != MemberState::absent;
    };
    const HasDoneItsPart has_done_its_part = has_arrived;
    if (all_there() ||
        domain_.wait(
            all_there, deadline_, [this] { return describe_wait(); }, WaitsOn::every_member, &has_done_its_part))
      return;
    std::vector<std::uint32_t> missing;
    for (std::uint32_t member = 0; member < domain_.size(); ++member) {
      if (state_of_entry(wire::member_entry(header_of(*segment_), member)) == MemberState::absent)
        missing.push_back(member);
    }
    throw_timeout(missing);
  }

  void compare_wishes() {
    for (std::uint32_t member = 0; member < domain_.size(); ++member) {
      const MemberEntry& entry = wire::member_entry(header_of(*segment_), member);
      const std::uint64_t bytes = entry.wished_bytes.load(std::memory_order_relaxed);
      const std::string name = wire::load_name(entry.wished_name);
      if (state_of_entry(entry) == MemberState::failed) {
        fail(static_cast<Code>(entry.failure.load(std::memory_order_relaxed)),
             "rank {} of \"{}\" could not allocate \"{}\" ({} bytes for each of {} ranks)", member, domain_.name(),
             name, bytes, domain_.size());
      }
      if (bytes == part_bytes_ && name == name_) continue;
      throw Error(Code::mismatch, fmt::format("the ranks of \"{}\" disagree about an allocation", domain_.name()),
                  {fmt::format("rank {} asks for \"{}\" of {} bytes", domain_.rank(), name_, part_bytes_),
                   fmt::format("rank {} asks for \"{}\" of {} bytes", member, name, bytes)});
    }
  }

  [[nodiscard]] WaitDescription describe_wait() const {
    return {wire::Operation::allocating, name_, key_.sequence, WaitCmp::ge, 0, 0};
  }

  /// All agree on what they want; then the segment must be made for just that, whatever its maker wrote.
  void check_layout() {
    const wire::SegmentShape shape = wire::segment_shape(domain_.size(), part_bytes_, page_bytes());
    const SegmentHeader& header = header_of(*segment_);
    if (header.part_bytes == shape.part_bytes && header.part_stride == shape.part_stride &&
        header.first_part == shape.first_part && segment_->bytes() == shape.bytes) {
      return;
    }
    fail(Code::protocol, "rank {} of \"{}\" made a segment for \"{}\" that does not hold {} parts of {} bytes", maker(),
         domain_.name(), name_, domain_.size(), part_bytes_);
  }

  [[noreturn]] void throw_timeout(const std::vector<std::uint32_t>& missing) {
    std::vector<std::string> notes;
    notes.reserve(missing.size());
    for (const std::uint32_t member : missing) notes.push_back(domain_.describe_member_activity(member));
    throw Error(
        Code::wait_timeout,
        fmt::format("rank {} waited {} for the allocation of \"{}\" ({} bytes) in \"{}\"; rank{} {} did not take part",
                    domain_.rank(), describe_duration(timeout_.count()), name_, part_bytes_, domain_.name(),
                    missing.size() == 1 ? "" : "s", fmt::join(missing, ", ")),
        DomainState::with_hang_report(std::move(notes)));
  }

  DomainState& domain_;
  SegmentUse use_;
  std::string name_;
  std::uint64_t part_bytes_;
  wire::AllocationKey key_;
  std::chrono::nanoseconds timeout_;
  Deadline deadline_;
  std::shared_ptr<SharedMemory> segment_;
  /// Why this machine cannot have it.
  std::exception_ptr refusal_;
  bool listens_ = false;
};

}  // namespace

std::shared_ptr<SharedMemory> allocate_segment(DomainState& domain, std::string_view name, std::uint64_t part_bytes,
                                               SegmentUse use) {
  return Handshake(domain, name, part_bytes, use).run();
}

}  // namespace baton::comm
