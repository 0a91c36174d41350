#include "chip/graph/scope_stack.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/fail.hpp"

namespace baton::graph {

ScopeStack::ScopeStack(Place where) { open(where); }

ScopeId ScopeStack::open(Place where) {
  open_.push_back({++last_id_, number_of(where)});
  return last_id_;
}

void ScopeStack::close(ScopeId scope) {
  const std::size_t at = depth_of(scope);
  if (at + 1 != open_.size()) {
    fail(Code::invalid_argument, "{} cannot be closed before {}, which was opened inside it", describe_open(scope),
         describe_open(innermost()));
  }
  if (at == 0) fail(Code::invalid_argument, "the outermost scope ({}) cannot be closed", describe_open(scope));
  open_.pop_back();
}

ScopeId ScopeStack::enclosing(ScopeId scope) const {
  const std::size_t at = depth_of(scope);
  return open_[at == 0 ? 0 : at - 1].id;
}

ScopePlace ScopeStack::place_of(ScopeId scope) const { return open_[depth_of(scope)].place; }

std::size_t ScopeStack::depth_of(ScopeId scope) const {
  for (std::size_t i = open_.size(); i-- > 0;) {
    if (open_[i].id == scope) return i;
  }
  fail(Code::released, "scope {} is not open: it was closed already, or never opened", scope);
}

std::string ScopeStack::describe(ScopePlace place) const {
  const Place& where = places_[place];
  std::string_view file = where.file;
  file.remove_prefix(file.rfind('/') == std::string_view::npos ? 0 : file.rfind('/') + 1);
  return fmt::format("the scope opened at {}:{}", file, where.line);
}

ScopePlace ScopeStack::number_of(const Place& where) {
  const auto same = [&](const Place& other) {
    return other.line == where.line && std::string_view(other.file) == where.file;
  };
  const auto found = std::find_if(places_.begin(), places_.end(), same);
  if (found != places_.end()) return static_cast<ScopePlace>(found - places_.begin());
  // A program with more places than numbers shows the last one for the rest.
  if (places_.size() > std::numeric_limits<ScopePlace>::max()) return std::numeric_limits<ScopePlace>::max();
  places_.push_back(where);
  return static_cast<ScopePlace>(places_.size() - 1);
}

}  // namespace baton::graph
