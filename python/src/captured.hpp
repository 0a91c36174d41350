// Captured graphs of the module.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <baton/captured_graph.hpp>

#include "chip_host.hpp"

namespace baton::python {

/// A captured graph with the memory that it uses. It ends on the thread of the chip.
class Captured {
 public:
  Captured(std::shared_ptr<ChipHost> host, std::shared_ptr<CapturedGraph> graph, ChipHost::Held held)
      : host_(std::move(host)), ticket_(host_->ticket()), graph_(std::move(graph)), held_(std::move(held)) {}
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  ~Captured() {
    static_cast<void>(ticket_->thread->post([graph = std::move(graph_)](Chip&) mutable { graph.reset(); }));
  }
  [[nodiscard]] CapturedGraph& get() const noexcept { return *graph_; }
  [[nodiscard]] const std::shared_ptr<CapturedGraph>& shared() const noexcept { return graph_; }
  [[nodiscard]] const ChipHost* host() const noexcept { return host_.get(); }

 private:
  std::shared_ptr<ChipHost> host_;
  std::shared_ptr<ChipTicket> ticket_;
  std::shared_ptr<CapturedGraph> graph_;
  ChipHost::Held held_;
};

/// Pairs of what was captured and what is used instead.
struct Bindings {
  explicit Bindings(const nb::list& pairs) {
    for (const nb::handle pair : pairs) {
      const Array before =
          array_of(pair[0], "the array that was captured", Writable::no, Layout::strided, Lies::anywhere);
      arrays.push_back(array_of(pair[1], "the array to use instead", Writable::no, Layout::strided, Lies::anywhere));
      list.push_back({before.tensor, arrays.back().tensor});
    }
  }
  std::vector<Array> arrays;  // what is used instead
  std::vector<Binding> list;
};

}  // namespace baton::python
