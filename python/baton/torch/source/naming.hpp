// What PyTorch calls a group, for messages.
#pragma once

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

  /// Calls `body`; what it throws has the ranks of the program beside those of the group.
  template <class Body>
  auto explain(Body&& body) const {
    try {
      return body();
    } catch (const Failure& failure) {
      if (ranks.empty()) throw;
      std::string text = c10::str(failure.what(), "\n  the ranks of this group, \"", name, "\", are ranks");
      for (const std::int64_t rank : ranks) text += c10::str(rank == ranks.front() ? " " : ", ", rank);
      throw Failure((text + " of the program").c_str(), failure.kind());
    }
  }
};

}  // namespace baton::process_group
