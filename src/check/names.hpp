// The names behind the numbers of a history.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/checked_event.hpp"
#include "check/history.hpp"
#include "check/lately.hpp"

namespace baton::check {

class Names {
 public:
  [[nodiscard]] std::uint32_t place(const std::string& text);
  [[nodiscard]] bool has_memory(std::uint64_t memory) {
    Memory*& known = memories_lately_.at(memory, memory);
    if (known == nullptr) {
      const auto found = memories_.find(memory);
      if (found != memories_.end()) known = &found->second;
    }
    return known != nullptr;
  }
  void add_memory(const CheckedBytes& bytes, const std::string& name) {
    memories_.try_emplace(bytes.memory, Memory{name, bytes.owner, bytes.holder});
  }

  [[nodiscard]] const std::string& place(std::uint32_t number) const { return texts_[number]; }
  /// `bytes 8 to 11 of rank 0's part of "x"`, `bytes 8 to 11 of "y" on rank 0's chip`,
  /// `bytes 8 to 11 of "y" of the node`
  [[nodiscard]] std::string bytes(std::uint64_t memory, std::uint64_t begin, std::uint64_t end) const;
  [[nodiscard]] const std::string& name(std::uint64_t memory) const { return memories_.at(memory).name; }
  [[nodiscard]] bool is_of_node(std::uint64_t memory) const {
    return memories_.at(memory).holder == CheckedHolder::node;
  }
  /// `signal 0 of "handed" at rank 0`
  [[nodiscard]] std::string signal(const Event& event) const;

 private:
  struct Memory {
    std::string name;
    std::uint32_t owner;
    CheckedHolder holder;
  };
  std::map<std::string, std::uint32_t> places_;
  std::vector<std::string> texts_;
  std::unordered_map<std::uint64_t, Memory> memories_;
  Lately<std::uint64_t, Memory> memories_lately_;
};

}  // namespace baton::check
