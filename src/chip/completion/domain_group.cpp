#include "chip/completion/domain_group.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include <baton/comm_context.h>

#include "base/fail.hpp"
#include "comm/context_table.hpp"
#include "comm/domain_state.hpp"

namespace baton::chip {
namespace {

/// In front of what a member tells: whether something went wrong there.
struct Outcome {
  std::uint32_t code = static_cast<std::uint32_t>(Code::ok);
  char text[252] = {};
};

class DomainGroup final : public WindowGroup {
 public:
  DomainGroup(Domain domain, std::string_view name)
      : domain_(std::move(domain)),
        name_(name),
        left_(domain_.signals(name, static_cast<std::size_t>(domain_.size()))) {}

  [[nodiscard]] std::uint32_t rank() const noexcept override { return state().rank(); }
  [[nodiscard]] std::uint32_t size() const noexcept override { return state().size(); }

  void exchange(const Error* failure, std::span<const std::byte> mine, std::span<std::byte> all) override {
    const RawWindow board = domain_.raw_window(name_, sizeof(Outcome) + mine.size());
    Outcome outcome;
    if (failure != nullptr) {
      outcome.code = static_cast<std::uint32_t>(failure->code());
      failure->message().copy(outcome.text, sizeof outcome.text - 1);
    }
    const int own = domain_.rank();
    board.put(own, 0, &outcome, sizeof outcome, Place{});
    board.put(own, sizeof outcome, mine.data(), mine.size(), Place{});
    domain_.barrier();
    if (failure != nullptr) throw Error(*failure);
    for (int member = 0; member < domain_.size(); ++member) {
      board.get(member, 0, &outcome, sizeof outcome, Place{});
      if (outcome.code != static_cast<std::uint32_t>(Code::ok)) {
        fail(static_cast<Code>(outcome.code), "rank {} of \"{}\" could not open \"{}\": {}", member, domain_.name(),
             name_, std::string(outcome.text, ::strnlen(outcome.text, sizeof outcome.text)));
      }
      board.get(member, sizeof outcome, all.data() + static_cast<std::size_t>(member) * mine.size(), mine.size(),
                Place{});
    }
  }

  void leave() noexcept override {
    for (std::uint32_t member = 0; member < size(); ++member) {
      if (member == rank()) continue;
      try {
        left_.notify(static_cast<int>(member), rank(), 1, NotifyOp::set, Place{});
      } catch (const Error&) {  // one that is gone needs no word
      }
    }
  }

  [[nodiscard]] bool all_left() const override {
    for (std::uint32_t member = 0; member < size(); ++member) {
      if (!has_left(member)) return false;
    }
    return true;
  }

  void await_all_left() noexcept override {
    const auto left = [this](std::uint32_t member) { return has_left(member); };
    const comm::HasDoneItsPart done = left;
    const auto describe = [this] {
      return comm::WaitDescription{wire::Operation::waiting, name_, rank(), WaitCmp::ge, 1, 0};
    };
    try {
      // At the deadline, too, the part goes: nothing more can be done for those who still want it.
      static_cast<void>(state().wait([this] { return all_left(); }, Deadline::within(state().world().wait_timeout()),
                                     describe, comm::WaitsOn::every_member, &done));
    } catch (const Error&) {  // a member died, or left the job
    }
  }

 private:
  [[nodiscard]] comm::DomainState& state() const noexcept { return *comm::DomainAccess::state(domain_); }
  [[nodiscard]] bool has_left(std::uint32_t member) const {
    if (member == rank()) return true;
    auto* word = reinterpret_cast<std::int32_t*>(left_.local()) + member;
    // Pairs with the notify in leave(); sequentially consistent because it is tested before sleeping.
    return std::atomic_ref(*word).load(std::memory_order_seq_cst) != 0;
  }

  Domain domain_;
  std::string name_;
  Signals left_;  // by member
};

}  // namespace

std::unique_ptr<WindowGroup> group_of(Domain domain, std::string_view name) {
  return std::make_unique<DomainGroup>(std::move(domain), name);
}

std::vector<std::uint64_t> context_at(std::uint64_t address, std::uint32_t rank, std::size_t bytes,
                                      std::span<const std::uint64_t> windows) {
  std::vector<std::uint64_t> words = comm::make_context(rank, bytes, windows);
  words[offsetof(CommContext, workSpace) / sizeof(std::uint64_t)] = address;
  return words;
}

}  // namespace baton::chip
