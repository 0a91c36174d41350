// Windows of chips as memory of tensors.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include <baton/chip_window.hpp>
#include <baton/domain.hpp>

#include "array.hpp"
#include "chip_host.hpp"

namespace baton::python {

/// A window, and the tensors over its parts. With the last of them the window ends, before its chip does.
class ChipWindowHandle {
 public:
  ChipWindowHandle(std::shared_ptr<ChipTicket> ticket, ChipWindow window);

  [[nodiscard]] const ChipWindow& get() const noexcept { return window_; }
  [[nodiscard]] Array part(int rank);
  /// Throws Error while arrays use it.
  void release();

 private:
  std::shared_ptr<ChipTicket> ticket_;
  ChipWindow window_;
  std::map<int, std::shared_ptr<Memory>> parts_;
};

/// Collective over the domain; Ctrl-C ends the wait.
[[nodiscard]] ChipWindowHandle open_window(ChipHost& host, const Domain& domain, const std::string& name,
                                           std::size_t bytes);

}  // namespace baton::python
