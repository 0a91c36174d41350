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

/// Of a member that has failed, in the words of the others.
enum Failed : std::int32_t { kNot = 0, kByItself = 1, kBecauseOfAnother = 2 };

bool follows_from_another(Code code) {
  return code == Code::peer_died || code == Code::peer_left || code == Code::wait_timeout;
}

std::string text_of(const Outcome& outcome) {
  return std::string(outcome.text, ::strnlen(outcome.text, sizeof outcome.text));
}

Outcome outcome_of(const Error& error) {
  Outcome outcome{.code = static_cast<std::uint32_t>(error.code())};
  error.message().copy(outcome.text, sizeof outcome.text - 1);
  return outcome;
}

class DomainGroup final : public WindowGroup {
 public:
  DomainGroup(Domain domain, std::string_view name)
      : domain_(std::move(domain)),
        name_(name),
        left_(domain_.signals(name, static_cast<std::size_t>(domain_.size()))),
        failed_(domain_.signals(name, static_cast<std::size_t>(domain_.size()))),
        why_(domain_.raw_window(name, sizeof(Outcome))) {}

  [[nodiscard]] std::uint32_t rank() const noexcept override { return state().rank(); }
  [[nodiscard]] std::uint32_t size() const noexcept override { return state().size(); }
  [[nodiscard]] const std::vector<int>& hosts() const override { return domain_.hosts(); }

  void exchange(const Error* failure, std::span<const std::byte> mine, std::span<std::byte> all) override {
    const RawWindow board = domain_.raw_window(name_, sizeof(Outcome) + mine.size());
    Outcome outcome;
    if (failure != nullptr) outcome = outcome_of(*failure);
    const int own = domain_.rank();
    board.put(own, 0, &outcome, sizeof outcome, Place{});
    board.put(own, sizeof outcome, mine.data(), mine.size(), Place{});
    domain_.barrier();
    std::vector<Outcome> outcomes(static_cast<std::size_t>(domain_.size()));
    for (int member = 0; member < domain_.size(); ++member) {
      const auto index = static_cast<std::size_t>(member);
      board.get(member, 0, &outcomes[index], sizeof outcome, Place{});
      board.get(member, sizeof outcome, all.data() + index * mine.size(), mine.size(), Place{});
    }
    // From another host a part is reached only while its owner has the window.
    if (std::ranges::max(domain_.hosts()) > 0) domain_.barrier();
    if (failure != nullptr) throw Error(*failure);
    for (std::size_t member = 0; member < outcomes.size(); ++member) {
      if (outcomes[member].code == static_cast<std::uint32_t>(Code::ok)) continue;
      fail(static_cast<Code>(outcomes[member].code), "rank {} of \"{}\" could not open \"{}\": {}", member,
           domain_.name(), name_, text_of(outcomes[member]));
    }
  }

  void tell_failure(const Error& why) noexcept override {
    try {
      const Outcome outcome = outcome_of(why);
      why_.put(domain_.rank(), 0, &outcome, sizeof outcome, Place{});
    } catch (const Error&) {  // then they learn that it failed
    }
    tell_others(failed_, follows_from_another(why.code()) ? kBecauseOfAnother : kByItself);
  }

  [[nodiscard]] std::string failed_member() const override {
    for (const Failed how : {kByItself, kBecauseOfAnother}) {
      for (std::uint32_t member = 0; member < size(); ++member) {
        if (word_of(failed_, member) != how) continue;
        return fmt::format("rank {} of \"{}\" failed and gave up \"{}\": {}", member, domain_.name(), name_,
                           why_of(member));
      }
    }
    return {};
  }

  void leave() noexcept override { tell_others(left_, 1); }

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
  [[nodiscard]] bool has_left(std::uint32_t member) const { return member == rank() || word_of(left_, member) != 0; }

  /// What a member has told.
  [[nodiscard]] static std::int32_t word_of(const Signals& words, std::uint32_t member) {
    auto* word = reinterpret_cast<std::int32_t*>(words.local()) + member;
    // Pairs with the notify in tell_others(); sequentially consistent because it is tested before sleeping.
    return std::atomic_ref(*word).load(std::memory_order_seq_cst);
  }
  void tell_others(Signals& words, std::int32_t value) const noexcept {
    for (std::uint32_t member = 0; member < size(); ++member) {
      if (member == rank()) continue;
      try {
        words.notify(static_cast<int>(member), rank(), value, NotifyOp::set, Place{});
      } catch (const Error&) {  // one that is gone needs no word
      }
    }
  }
  [[nodiscard]] std::string why_of(std::uint32_t member) const {
    Outcome outcome;
    try {
      why_.get(static_cast<int>(member), 0, &outcome, sizeof outcome, Place{});
    } catch (const Error&) {  // of another host, and gone
    }
    return outcome.text[0] == '\0' ? "it did not say why" : text_of(outcome);
  }

  Domain domain_;
  std::string name_;
  Signals left_;    // by member, as failed_
  Signals failed_;  // Failed
  RawWindow why_;   // an Outcome
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
