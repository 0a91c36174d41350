#include <baton/domain.hpp>

#include <algorithm>

#include "base/fail.hpp"
#include "base/quote.hpp"
#include "comm/domain_state.hpp"
#include "comm/window_state.hpp"

namespace baton {
namespace {

/// Names travel between ranks and appear in reports.
void check_name(std::string_view what, std::string_view name) {
  const bool printable = std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (name.empty() || name.size() > wire::kNameBytes || !printable) {
    fail(Situation::bad_name, "the name {} of a {} is not 1 to {} printable ASCII characters", quote(name), what,
         wire::kNameBytes);
  }
}

/// An identity that no other subset has, and that all members compute alike.
std::uint64_t identify_subset(comm::DomainState& parent, std::string_view name, std::vector<std::uint32_t> members) {
  for (const char c : name) members.push_back(static_cast<unsigned char>(c));
  const std::uint64_t kind = comm::hash_words(parent.id(), members);
  return comm::hash_words(kind, {static_cast<std::uint32_t>(parent.world().next_sequence(kind))});
}

/// Apart from the search for it, which every collective makes.
[[gnu::noinline]] Attachment& make_attachment(comm::DomainState& state, const void* key,
                                              std::unique_ptr<Attachment> (*make)(Domain borrowed)) {
  const comm::Attachments::Making making(state.attachments(), state.name());
  // Shares no ownership: an attachment must not keep alive what it is attached to.
  return state.attachments().add(key,
                                 make(Domain(std::shared_ptr<comm::DomainState>(std::shared_ptr<void>(), &state))));
}

}  // namespace

comm::DomainState& Domain::state() const {
  if (!state_) [[unlikely]]
    fail(Code::released, "a domain handle that refers to no domain was used");
  return *state_;
}

int Domain::rank() const { return static_cast<int>(state().rank()); }
int Domain::size() const { return static_cast<int>(state().size()); }
const std::string& Domain::name() const { return state().name(); }
const std::vector<int>& Domain::members() const { return state().member_numbers(); }
const std::vector<int>& Domain::hosts() const { return state().groups().hosts(); }

std::size_t Domain::window_bytes(std::size_t count, std::size_t element_bytes) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, element_bytes, &bytes)) {
    fail(Code::out_of_memory, "a window of {} elements of {} bytes is more than any machine has", count, element_bytes);
  }
  return bytes;
}

RawWindow Domain::raw_window(std::string_view name, std::size_t bytes) {
  check_name("window", name);
  static_cast<void>(state());  // throws for a handle that refers to nothing
  return RawWindow(std::make_shared<comm::WindowState>(state_, std::string(name), bytes));
}

bool RawWindow::belongs_to(const Domain& domain) const noexcept {
  return state_ && &state_->domain() == comm::DomainAccess::state(domain).get();
}

Attachment::~Attachment() = default;

Attachment& Domain::attachment(const void* key, std::unique_ptr<Attachment> (*make)(Domain borrowed)) const {
  if (Attachment* found = state().attachments().find(key)) [[likely]]
    return *found;
  return make_attachment(*state_, key, make);
}

void Domain::barrier() { state().barrier(state().world().wait_timeout()); }
void Domain::barrier(std::chrono::nanoseconds timeout) { state().barrier(timeout); }

void Domain::leave_because(std::string_view reason) noexcept {
  if (state_) state_->world().leave(comm::Farewell::fail, {.text = reason});
}

Domain Domain::subset(std::string_view name, std::span<const int> ranks) {
  check_name("domain", name);
  comm::DomainState& parent = state();
  std::vector<std::uint32_t> members;
  for (const int rank : ranks) {
    if (rank < 0 || rank >= size()) {
      fail(Situation::no_such_rank, "subset \"{}\": rank {} is outside 0..{} of \"{}\"", name, rank, size() - 1,
           parent.name());
    }
    members.push_back(parent.members()[static_cast<std::size_t>(rank)]);
    if (std::count(members.begin(), members.end(), members.back()) > 1) {
      fail(Situation::named_twice, "subset \"{}\": rank {} is named twice", name, rank);
    }
  }
  if (std::find(members.begin(), members.end(), parent.world().rank()) == members.end()) {
    fail(Code::not_a_member, "subset \"{}\": the calling rank {} is not among its {} members", name, rank(),
         ranks.size());
  }
  const std::uint64_t id = identify_subset(parent, name, members);
  return Domain(comm::DomainState::of_subset(parent.world_pointer(), std::string(name), std::move(members), id));
}

Domain Domain::subset_here(std::string_view name) {
  check_name("domain", name);
  comm::DomainState& parent = state();
  std::vector<std::uint32_t> members;
  for (const std::uint32_t member : parent.groups().here()) members.push_back(parent.members()[member]);
  std::vector<std::uint32_t> watched;
  for (const comm::HostGroups::Group& group : parent.groups().elsewhere()) {
    for (const std::uint32_t member : group) watched.push_back(parent.members()[member]);
  }
  const std::uint64_t id = identify_subset(parent, name, members);
  return Domain(comm::DomainState::of_subset(parent.world_pointer(), std::string(name), std::move(members), id,
                                             std::move(watched)));
}

}  // namespace baton
