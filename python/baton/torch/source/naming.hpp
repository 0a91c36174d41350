// What PyTorch calls a group, for messages.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <c10/util/StringUtil.h>

#include "group.hpp"

namespace baton::process_group {

struct Naming {
  std::string name;
  /// The members as ranks of the program; empty: they are the same.
  std::vector<std::int64_t> ranks;

  /// Calls `body`; what it throws has the ranks of the program beside those of the group, and whose timeout passed.
  template <class Body>
  auto explain(Body&& body, std::chrono::milliseconds timeout = {}) const {
    try {
      return body();
    } catch (const Failure& failure) {
      throw Failure((failure.what() + notes(failure, timeout)).c_str(), failure.kind());
    }
  }

 private:
  [[nodiscard]] std::string notes(const Failure& failure, std::chrono::milliseconds timeout) const {
    std::string text;
    if (failure.kind() == Failure::Kind::timeout && timeout.count() > 0) {
      text += c10::str("\n  the timeout is that of PyTorch, ", timeout.count(),
                       " ms: init_process_group, new_group or the call set it");
    }
    if (ranks.empty()) return text;
    text += c10::str("\n  the ranks of this group, \"", name, "\", are ranks");
    for (const std::int64_t rank : ranks) text += c10::str(rank == ranks.front() ? " " : ", ", rank);
    return text + " of the program";
  }
};

}  // namespace baton::process_group
