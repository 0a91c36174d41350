// Races of a part of a program: what `baton check` finds in a whole one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <baton/export.hpp>

namespace baton {

class NamelessFile;

/// While the object lives, what ranks, chips and cores of this process touch is recorded, and what orders them. So is
/// what chips do that a Worker starts meanwhile.
class BATON_API RaceCheck {
 public:
  /// Throws Error: invalid_argument if a trace is being written, system if there is no room for what is recorded.
  RaceCheck();
  RaceCheck(const RaceCheck&) = delete;
  RaceCheck& operator=(const RaceCheck&) = delete;
  ~RaceCheck();

  /// Ends it. Each pair of places that race once: a line, and further ones that begin with two spaces. The ranks and
  /// runs that are recorded have ended. Throws Error (invalid_argument) when it is called again.
  [[nodiscard]] std::vector<std::string> finish();

 private:
  std::unique_ptr<NamelessFile> file_;  // null once it has ended
};

}  // namespace baton
