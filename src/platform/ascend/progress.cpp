#include "platform/ascend/progress.hpp"

namespace baton::ascend {

bool has_happened(const Mark& mark) {
  std::int32_t status = 0;
  // What is wrong with the chip is told by its streams.
  return Cann::get().aclrtQueryEventStatus(mark.event, &status) == 0 && status == kEventComplete;
}

bool Progress::look_at(std::size_t stream, const Mark& mark) {
  // What comes before it is told before it, also where both have returned since it was looked at.
  for (std::size_t other = 0; other < kKinds; ++other) {
    if (other != stream && mark.behind[other] > returned_[other]) return false;
  }
  if (!has_started_[stream]) note(mark.task, BATON_TASK_STARTED);
  has_started_[stream] = true;
  if (!has_happened(mark)) return false;
  note(mark.task, tasks_[mark.task].may_defer() ? BATON_TASK_RETURNED : BATON_TASK_COMPLETE);
  has_started_[stream] = false;
  ++returned_[stream];
  return true;
}

void Progress::look(const Marks& marks, const Moment& drained) {
  if (!is_wanted()) return;
  for (bool any_returned = true; any_returned;) {
    any_returned = false;
    for (std::size_t stream = 0; stream < kKinds; ++stream) {
      while (returned_[stream] < drained[stream] + marks[stream].size() &&
             look_at(stream, marks[stream][returned_[stream] - drained[stream]])) {
        any_returned = true;
      }
    }
  }
}

bool Progress::has_all(const Marks& marks, const Moment& drained) const {
  for (std::size_t stream = 0; stream < kKinds; ++stream) {
    if (returned_[stream] < drained[stream] + marks[stream].size()) return false;
  }
  return true;
}

}  // namespace baton::ascend
