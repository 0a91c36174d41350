// Where bytes that others put go in place of where they put them.
#pragma once

namespace baton {

/// While it lives.
class Landing {
 public:
  Landing() = default;
  Landing(const Landing&) = delete;
  Landing& operator=(const Landing&) = delete;
  virtual ~Landing() = default;

  /// False: what has come, if it has, is where it was put. For those who know by a signal that it has.
  [[nodiscard]] virtual bool has_come() const = 0;
};

}  // namespace baton
