#include "chip/completion/far_copy.hpp"

#include "comm/window_state.hpp"

namespace baton::chip {

FarCopy::FarCopy(const FarEnds& ends, std::function<void()> sent)
    : ends_(ends), sent_(std::move(sent)), is_last_leg_(!ends.source || !ends.target) {
  if (!ends_.source) {
    start_sending(ends_.from);
    return;
  }
  if (ends_.target) between_ = std::make_unique_for_overwrite<std::byte[]>(ends_.bytes);
  void* const to = ends_.target ? between_.get() : ends_.to;
  leg_ = ends_.source->window->start_fetch(ends_.source->rank, ends_.source->offset, to, ends_.bytes);
}

void FarCopy::start_sending(const void* from) {
  leg_ = ends_.target->window->start_send(ends_.target->rank, ends_.target->offset, from, ends_.bytes);
}

bool FarCopy::is_over() noexcept {
  if (!leg_->is_over()) return false;
  if (is_last_leg_) return true;
  try {
    leg_->end();
    start_sending(between_.get());
  } catch (const std::exception&) {
    return true;  // end() says it again
  }
  is_last_leg_ = true;
  return leg_->is_over();
}

void FarCopy::end() {
  leg_->end();
  if (ends_.target) sent_();
}

}  // namespace baton::chip
