#include "process_group.hpp"

#include <algorithm>

#include <Python.h>

#include "call.hpp"
#include "meeting.hpp"

namespace baton::process_group {
namespace {

/// What only some versions of PyTorch have: the name of a group that is split off, and a connection of its own.
template <class GroupOptions>
std::string name_in(const GroupOptions& options) {
  if constexpr (requires { options.group_name; }) return options.group_name;
  return {};
}
template <class StorePointer>
StorePointer own_connection(const StorePointer& store) {
  if constexpr (requires { store->clone(); }) return store->clone();
  return store;
}

/// Python's lock, if this thread has it, is not held while it waits: callbacks of futures need it.
class WithoutPython {
 public:
  WithoutPython() : state_(Py_IsInitialized() != 0 && PyGILState_Check() != 0 ? PyEval_SaveThread() : nullptr) {}
  WithoutPython(const WithoutPython&) = delete;
  WithoutPython& operator=(const WithoutPython&) = delete;
  ~WithoutPython() {
    if (state_ != nullptr) PyEval_RestoreThread(state_);
  }

 private:
  PyThreadState* state_;
};

}  // namespace

ProcessGroupBaton::ProcessGroupBaton(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                     std::chrono::milliseconds timeout, Naming naming)
    : Backend(rank, size),
      timeout_(timeout),
      naming_(std::make_shared<const Naming>(std::move(naming))),
      group_(std::make_shared<Group>(meet(*store, rank, size, timeout).c_str(), rank, size)),
      queue_(std::make_shared<CallQueue>()) {
  init();
}

ProcessGroupBaton::~ProcessGroupBaton() {
  const WithoutPython released;
  queue_->close();
  group_->leave();
}

void ProcessGroupBaton::shutdown() {
  const WithoutPython released;
  queue_->drain();
  group_->leave();
}

void ProcessGroupBaton::abort() {
  const WithoutPython released;
  group_->abort("the process group was aborted");
  queue_->drain();
}

c10::intrusive_ptr<c10d::Backend::Options> ProcessGroupBaton::getBackendOptions() {
  return c10::make_intrusive<Options>(getBackendName(), timeout_.load());
}

c10::intrusive_ptr<c10d::Backend> ProcessGroupBaton::split(const c10::intrusive_ptr<c10d::Store>& store,
                                                           const std::vector<int>& ranks,
                                                           const c10::intrusive_ptr<Options>& options) {
  const auto found = std::find(ranks.begin(), ranks.end(), getRank());
  if (found == ranks.end()) return nullptr;
  Naming naming{name_in(*options), {}};
  for (const int rank : ranks) {
    naming.ranks.push_back(naming_->ranks.empty() ? rank : naming_->ranks.at(static_cast<std::size_t>(rank)));
  }
  return c10::make_intrusive<ProcessGroupBaton>(own_connection(store), static_cast<int>(found - ranks.begin()),
                                                static_cast<int>(ranks.size()), options->timeout, std::move(naming));
}

ProcessGroupBaton::Timeout ProcessGroupBaton::timeout_of(Timeout asked) const {
  return asked > Timeout::zero() ? asked : timeout_.load();
}

ProcessGroupBaton::Works ProcessGroupBaton::barrier(const c10d::BarrierOptions& options) {
  return call(c10d::OpType::BARRIER, "baton:barrier", options, {}, {},
              [this](Timeout timeout) { group_->barrier(timeout); });
}

}  // namespace baton::process_group
