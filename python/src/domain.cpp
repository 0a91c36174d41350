// Domains and windows.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <map>
#include <optional>

#include <baton/domain.hpp>
#include <baton/error.hpp>
#include <baton/join.hpp>
#include <baton/options.hpp>

#include "array.hpp"
#include "bind.hpp"
#include "gil.hpp"
#include "interruptible.hpp"
#include "place.hpp"
#include "seconds.hpp"
#include "window.hpp"

namespace baton::python {
namespace {

using Nanoseconds = std::chrono::nanoseconds;

/// Waits that end sooner need no second thread.
constexpr Nanoseconds kShort = std::chrono::milliseconds(1);

Nanoseconds timeout_of(std::optional<double> seconds) {
  return nanoseconds_of(seconds).value_or(options().wait_timeout);
}

/// `wait(timeout)` throws wait_timeout when it has done nothing and may be called again. Briefly on this thread; what
/// is left where Ctrl-C can end it.
template <class Wait>
void wait_interruptibly(const Wait& wait, Nanoseconds timeout) {
  if (timeout > kShort && on_main_thread()) {
    try {
      const Unlocked unlocked;
      wait(kShort);
      return;
    } catch (const Error& error) {
      if (error.code() != Code::wait_timeout) throw;
    }
    run_interruptibly([wait, timeout] { wait(timeout); });
    return;
  }
  const Unlocked unlocked;
  wait(timeout);
}

/// A window and the tensors over its parts.
class WindowHandle {
 public:
  explicit WindowHandle(RawWindow window) : window_(std::move(window)) {}

  [[nodiscard]] const RawWindow& get() const noexcept { return window_; }

  [[nodiscard]] Array part(int rank) {
    auto& memory = parts_[rank];
    if (!memory) memory = std::make_shared<WindowMemory>(window_, rank);
    const std::int64_t extent[] = {static_cast<std::int64_t>(window_.bytes())};
    return {Tensor(memory->buffer(), DType::uint8, extent), memory};
  }

  void release() {
    for (const auto& [rank, memory] : parts_) memory->release("the window \"" + window_.name() + "\"");
    parts_.clear();
    window_.release();
  }

 private:
  RawWindow window_;
  std::map<int, std::shared_ptr<Memory>> parts_;
};

void* data_of(const Array& array) { return reinterpret_cast<void*>(array.tensor.address()); }

WaitCmp comparison_of(const std::string& symbol) {
  for (const WaitCmp comparison : {WaitCmp::eq, WaitCmp::ne, WaitCmp::gt, WaitCmp::ge, WaitCmp::lt, WaitCmp::le}) {
    if (symbol == symbol_of(comparison)) return comparison;
  }
  throw Error(Code::invalid_argument, "there is no comparison '" + symbol + "'", {"there are == != > >= < <="});
}

NotifyOp operation_of(const std::string& name) {
  if (name == "add") return NotifyOp::add;
  if (name == "set") return NotifyOp::set;
  throw Error(Code::invalid_argument, "notify cannot '" + name + "'", {"it can add and set"});
}

void bind_window(nb::module_& module) {
  nb::class_<WindowHandle>(module, "RawWindow")
      .def_prop_ro("nbytes", [](const WindowHandle& window) { return window.get().bytes(); })
      .def_prop_ro("name", [](const WindowHandle& window) { return window.get().name(); })
      .def_prop_ro("context",
                   [](const WindowHandle& window) { return reinterpret_cast<std::uint64_t>(window.get().context()); })
      .def("part", &WindowHandle::part)
      .def("release", &WindowHandle::release)
      .def("put",
           [](const WindowHandle& window, int peer, std::size_t offset, const nb::object& source) {
             const Array array = array_of(source, "what is put", Writable::no);
             const Place where = calling_place();
             const Unlocked unlocked;
             window.get().put(peer, offset, data_of(array), bytes_of(array), where);
           })
      .def("get",
           [](const WindowHandle& window, int peer, std::size_t offset, const nb::object& target) {
             const Array array = array_of(target, "where it is put", Writable::yes);
             const Place where = calling_place();
             const Unlocked unlocked;
             window.get().get(peer, offset, data_of(array), bytes_of(array), where);
           })
      .def("put_signal",
           [](const WindowHandle& window, int peer, std::size_t offset, const nb::object& source,
              const WindowHandle& signals, std::size_t signal_offset, std::int32_t value, const std::string& op) {
             const Array array = array_of(source, "what is put", Writable::no);
             const NotifyOp operation = operation_of(op);
             const Place where = calling_place();
             const Unlocked unlocked;
             window.get().put_signal(peer, offset, data_of(array), bytes_of(array), signals.get(), signal_offset, value,
                                     operation, where);
           })
      .def("notify",
           [](const WindowHandle& window, int peer, std::size_t offset, std::int32_t value, const std::string& op) {
             window.get().notify(peer, offset, value, operation_of(op), calling_place());
           })
      .def(
          "wait",
          [](const WindowHandle& window, std::size_t offset, const std::string& comparison, std::int32_t value,
             std::optional<double> timeout) {
            const WaitCmp compare = comparison_of(comparison);
            const Place where = calling_place();
            wait_interruptibly([raw = window.get(), offset, compare, value,
                                where](Nanoseconds limit) { raw.wait(offset, compare, value, limit, where); },
                               timeout_of(timeout));
          },
          nb::arg("offset"), nb::arg("comparison"), nb::arg("value"), nb::arg("timeout").none())
      .def("test",
           [](const WindowHandle& window, std::size_t offset, const std::string& comparison, std::int32_t value) {
             return window.get().test(offset, comparison_of(comparison), value, calling_place());
           });
}

}  // namespace

void bind_domain(nb::module_& module) {
  bind_window(module);
  nb::class_<Domain>(module, "Domain")
      .def_prop_ro("rank", &Domain::rank)
      .def_prop_ro("size", &Domain::size)
      .def_prop_ro("name", &Domain::name)
      .def_prop_ro("members", &Domain::members)
      .def("window",
           [](const Domain& domain, const std::string& name, std::size_t bytes) {
             return WindowHandle(interruptibly(
                 [domain = Domain(domain), name, bytes]() mutable { return domain.raw_window(name, bytes); }));
           })
      .def(
          "barrier",
          [](const Domain& domain, std::optional<double> timeout) {
            wait_interruptibly([domain](Nanoseconds limit) { Domain(domain).barrier(limit); }, timeout_of(timeout));
          },
          nb::arg("timeout").none())
      .def("leave_because",
           [](const Domain& domain, const std::string& reason) {
             const Unlocked unlocked;
             Domain(domain).leave_because(reason);
           })
      .def("subset", [](const Domain& domain, const std::string& name, const std::vector<int>& ranks) {
        return interruptibly([domain = Domain(domain), name, ranks]() mutable { return domain.subset(name, ranks); });
      });
  module.def("leave_because", [](const std::string& reason) {
    const Unlocked unlocked;
    leave_because(reason);
  });
  module.def("join", [] { return interruptibly([] { return join(); }); });
  module.def("join_as", [](const std::string& rendezvous, int rank, int size) {
    return interruptibly([=] { return join(rendezvous, rank, size); });
  });
}

}  // namespace baton::python
