#include "check/names.hpp"

#include <fmt/format.h>

#include "base/quote.hpp"

namespace baton::check {

std::uint32_t Names::place(const std::string& text) {
  const auto [at, is_new] = places_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
  if (is_new) texts_.push_back(text);
  return at->second;
}

std::string Names::bytes(std::uint64_t memory, std::uint64_t begin, std::uint64_t end) const {
  const Memory& named = memories_.at(memory);
  const std::string range =
      end - begin == 1 ? fmt::format("byte {}", begin) : fmt::format("bytes {} to {}", begin, end - 1);
  if (named.holder == CheckedHolder::chip) {
    return fmt::format("{} of {} on rank {}'s chip", range, quote(named.name), named.owner);
  }
  if (named.holder == CheckedHolder::node) return fmt::format("{} of {} of the node", range, quote(named.name));
  return fmt::format("{} of rank {}'s part of {}", range, named.owner, quote(named.name));
}

std::string Names::signal(const Event& event) const {
  const Memory& named = memories_.at(event.subject);
  return fmt::format("signal {} of {} at rank {}", event.begin / (event.end - event.begin), quote(named.name),
                     named.owner);
}

}  // namespace baton::check
