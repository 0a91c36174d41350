#include <baton/captured_graph.hpp>

#include "chip/runtime/captured_state.hpp"

namespace baton {

CapturedGraph::CapturedGraph(std::unique_ptr<chip::CapturedState> state) noexcept : state_(std::move(state)) {}
CapturedGraph::CapturedGraph(CapturedGraph&& other) noexcept = default;
CapturedGraph& CapturedGraph::operator=(CapturedGraph&& other) noexcept = default;
CapturedGraph::~CapturedGraph() = default;

std::uint64_t CapturedGraph::task_count() const noexcept { return state_->tasks().newest(); }
std::uint64_t CapturedGraph::edge_count() const noexcept { return state_->tasks().edge_count(); }
std::string CapturedGraph::drawing() const { return state_->drawing(); }

void CapturedGraph::set_scalar_slot(TaskId task, std::size_t scalar, std::int64_t slot) {
  state_->set_scalar(task, scalar, slot);
}

}  // namespace baton
