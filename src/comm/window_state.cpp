#include "comm/window_state.hpp"

#include <cstring>
#include <exception>
#include <span>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "comm/address_book.hpp"
#include "comm/allocation.hpp"
#include "comm/context_table.hpp"
#include "comm/delivery.hpp"
#include "wire/segment.hpp"

namespace baton::comm {
namespace {

std::uint64_t tag_of(wire::AllocationKey key) noexcept {
  return hash_words(key.domain, {static_cast<std::uint32_t>(key.sequence)});
}

}  // namespace

WindowState::WindowState(std::shared_ptr<DomainState> domain, std::string name, std::uint64_t bytes)
    : domain_(std::move(domain)), name_(std::move(name)), event_text_(events::text(name_)), bytes_(bytes) {
  if (domain_->groups().spans_hosts()) path_ = domain_->world().path();
  const auto use = [this](const std::shared_ptr<SharedMemory>& segment, wire::AllocationKey key) {
    const auto& header = *static_cast<wire::SegmentHeader*>(segment->address());
    key_ = key;
    tag_ = tag_of(key);
    first_part_ = static_cast<std::byte*>(segment->address()) + header.first_part;
    stride_ = header.part_stride;
    if (path_ == nullptr) return;
    std::vector<FarMember> far;
    for (const HostGroups::Group& group : domain_->groups().elsewhere()) {
      for (const std::uint32_t member : group) far.push_back({member, domain_->members()[member]});
    }
    path_->delivery().expose(
        key_, {segment, first_part_ + domain_->rank() * stride_, header.part_bytes, tag_, std::move(far), event_text_});
  };
  try {
    segment_ = allocate_segment(*domain_, name_, bytes, use);
  } catch (...) {
    if (path_ != nullptr) path_->delivery().withdraw(key_);
    throw;
  }
  checked_number_ = window_number(domain_->world(), tag_);
  std::vector<std::uint64_t> windows(domain_->size());
  for (std::size_t r = 0; r < windows.size(); ++r)
    windows[r] = reinterpret_cast<std::uint64_t>(first_part_ + r * stride_);
  context_ = make_context(domain_->rank(), bytes_, windows);
  domain_->world().control().window_bytes.fetch_add(stride_, std::memory_order_relaxed);
  enter_window(this, first_part_, stride_, domain_->size());
  log::info("rank {} of \"{}\" has the window \"{}\": {} bytes on each of {} ranks", domain_->rank(), domain_->name(),
            name_, bytes_, domain_->size());
}

WindowState::~WindowState() { sign_off(); }

void WindowState::sign_off() noexcept {
  if (!segment_) return;
  if (path_ != nullptr) tell_release();
  remove_window(this, first_part_);
  domain_->world().control().window_bytes.fetch_sub(stride_, std::memory_order_relaxed);
}

void WindowState::tell_release() noexcept {
  const wire::MemberRelease message{key_, domain_->rank()};
  try {
    for (const HostGroups::Group& group : domain_->groups().elsewhere()) {
      path_->post(domain_->members()[group.front()], wire::kReleases, std::as_bytes(std::span(&message, 1)));
    }
  } catch (const std::exception& error) {
    log::debug("other hosts keep the window \"{}\": {}", name_, error.what());
  }
  path_->delivery().retire(key_);
}

void WindowState::release() noexcept {
  sign_off();
  const std::shared_ptr<SharedMemory> segment = std::move(segment_);
  // Ranks of one process share the mapping: the last to release it finds nobody else who has it.
  if (!segment || segment.use_count() != 1) return;
  segment->revoke();
  remains_ = segment;
}

const CommContext* WindowState::context() const {
  static_cast<void>(checked("context", 0, 0, 0));
  return reinterpret_cast<const CommContext*>(context_.data());
}

void WindowState::throw_released(const char* what) const {
  fail(Code::released, "{} on the window \"{}\" after it was released", what, name_);
}

void WindowState::throw_outside(const char* what, int rank, std::size_t offset, std::size_t count) const {
  if (!segment_) throw_released(what);
  if (rank < 0 || static_cast<std::uint32_t>(rank) >= domain_->size()) {
    fail(Situation::no_such_rank, "{} on \"{}\": rank {} is outside 0..{} of \"{}\"", what, name_, rank,
         domain_->size() - 1, domain_->name());
  }
  fail(Situation::outside_window, "{} on \"{}\": {} bytes from byte {} of rank {} are outside the window of {} bytes",
       what, name_, count, offset, rank, bytes_);
}

void WindowState::throw_far(const char* what, int rank) const {
  fail(Situation::other_host, "{} on \"{}\": the part of {} is on another host, where no pointer reaches", what, name_,
       domain_->describe_member(static_cast<std::uint32_t>(rank)));
}

std::byte* WindowState::part(int rank) const {
  std::byte* const part = checked("access", rank, 0, 0);
  if (is_far(rank)) [[unlikely]]
    throw_far("access", rank);
  return part;
}

bool WindowState::is_mapped(int rank) const {
  static_cast<void>(checked("access", rank, 0, 0));
  return !is_far(rank);
}

bool WindowState::is_local(const void* address, std::size_t count) const {
  if (!segment_) [[unlikely]]
    throw_released("access");
  const std::byte* own = first_part_ + domain_->rank() * stride_;
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(own);
  return offset <= bytes_ && count <= bytes_ - offset;
}

void WindowState::put(int peer, std::size_t offset, const void* source, std::size_t count, const Place& where) const {
  std::byte* to = checked("put", peer, offset, count);
  domain_->world().note(wire::Operation::putting);
  if (is_checked()) {
    note_touch(domain_->world(), source, count, CheckedUse::read, "put", where);
    note_touch(checked_part(peer), offset, count, CheckedUse::write, "put", {.where = where});
  }
  const std::uint64_t began = events::tracing() ? ticks() : 0;
  if (is_far(peer)) {
    path_->put(far_place(peer, offset), source, count, {}, far_deadline());
  } else if (count != 0) {
    std::memmove(to, source, count);
  }
  if (began != 0) record_copy(EventKind::put, began, peer, offset, count);
}

void WindowState::get(int peer, std::size_t offset, void* target, std::size_t count, const Place& where) const {
  const std::byte* from = checked("get", peer, offset, count);
  domain_->world().note(wire::Operation::getting);
  if (is_checked()) {
    note_touch(checked_part(peer), offset, count, CheckedUse::read, "get", {.where = where});
    note_touch(domain_->world(), target, count, CheckedUse::write, "get", where);
  }
  const std::uint64_t began = events::tracing() ? ticks() : 0;
  if (is_far(peer)) {
    path_->get(far_place(peer, offset), target, count, far_deadline());
  } else if (count != 0) {
    std::memmove(target, from, count);
  }
  if (began != 0) record_copy(EventKind::get, began, peer, offset, count);
}

void WindowState::send(int peer, std::size_t offset, const void* source, std::size_t count) const {
  static_cast<void>(checked("put", peer, offset, count));
  path_->put(far_place(peer, offset), source, count, {}, far_deadline());
}

void WindowState::send_sum(int peer, std::size_t offset, Element element, const void* addends,
                           std::size_t count) const {
  static_cast<void>(checked("add", peer, offset, count));
  path_->add(far_place(peer, offset), element, addends, count, far_deadline());
}

void WindowState::send_pieces(int peer, std::size_t offset, const FarPieces& pieces) const {
  static_cast<void>(checked("scatter", peer, offset, 0));
  path_->scatter(far_place(peer, offset), pieces, far_deadline());
}

void WindowState::fetch(int peer, std::size_t offset, void* target, std::size_t count) const {
  static_cast<void>(checked("get", peer, offset, count));
  path_->get(far_place(peer, offset), target, count, far_deadline());
}

std::unique_ptr<Transfer> WindowState::start_send(int peer, std::size_t offset, const void* source,
                                                  std::size_t count) const {
  static_cast<void>(checked("put", peer, offset, count));
  return path_->start_put(far_place(peer, offset), source, count, {}, far_deadline());
}

std::unique_ptr<Transfer> WindowState::start_fetch(int peer, std::size_t offset, void* target,
                                                   std::size_t count) const {
  static_cast<void>(checked("get", peer, offset, count));
  return path_->start_get(far_place(peer, offset), target, count, far_deadline());
}

void WindowState::record_copy(EventKind kind, std::uint64_t began, int peer, std::size_t offset,
                              std::size_t count) const noexcept {
  EventRecord event = domain_->world().event_since(kind, began);
  event.object = event_text_;
  event.a = member(peer);
  event.b = offset;
  event.c = count;
  events::record(event);
}

std::string WindowState::activity_of(int rank) const {
  static_cast<void>(checked("activity_of", rank, 0, 0));
  return domain_->describe_member_activity(static_cast<std::uint32_t>(rank));
}

}  // namespace baton::comm
