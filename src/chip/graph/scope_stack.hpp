// Scopes: the lifetime of what is submitted inside them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <baton/place.hpp>

namespace baton::graph {

/// Names one opening of a scope; 1 is the outermost, which is never closed.
using ScopeId = std::uint64_t;

/// Where scopes were opened: every line of a program that opens one has a small number.
using ScopePlace = std::uint16_t;

class ScopeStack {
 public:
  explicit ScopeStack(Place where = Place::here());

  ScopeId open(Place where = Place::here());
  /// Throws Error (invalid_argument) unless `scope` is the innermost one.
  void close(ScopeId scope);

  [[nodiscard]] ScopeId innermost() const noexcept { return open_.back().id; }
  /// Of an open scope; the outermost has none: itself.
  [[nodiscard]] ScopeId enclosing(ScopeId scope) const;
  [[nodiscard]] std::size_t depth() const noexcept { return open_.size(); }
  /// How many open scopes enclose an open one. Throws Error (released) if it is not open.
  [[nodiscard]] std::size_t depth_of(ScopeId scope) const;

  /// Of an open scope.
  [[nodiscard]] ScopePlace place_of(ScopeId scope) const;
  /// "the scope opened at train.cpp:88".
  [[nodiscard]] std::string describe(ScopePlace place) const;
  [[nodiscard]] std::string describe_open(ScopeId scope) const { return describe(place_of(scope)); }

 private:
  struct Open {
    ScopeId id;
    ScopePlace place;
  };
  [[nodiscard]] ScopePlace number_of(const Place& where);

  std::vector<Open> open_;  // outermost first, ascending ids
  std::vector<Place> places_;
  ScopeId last_id_ = 0;
};

}  // namespace baton::graph
