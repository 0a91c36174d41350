// What the ranks of all hosts do, asked on one of them.
#include <algorithm>

#include "base/fail.hpp"
#include "job/control_search.hpp"
#include "job/hosts/gathering_agent.hpp"
#include "job/hosts/rank_sight.hpp"

namespace baton::job {

void GatheringAgent::note_end(std::string_view frame) {
  if (!picture_) return;
  FrameAssembler frames;
  frames.add(frame);
  auto whole = frames.next();
  if (whole->kind() == FrameKind::rank_end) picture_->note_end(decode_rank_end(*whole));
}

std::shared_ptr<comm::SharedMemory> GatheringAgent::control() const {
  const auto here = static_cast<std::uint32_t>(std::ranges::count(welcome_->host_of, host_));
  for (const auto& [rank, pid] : desk_.processes()) {
    for (const std::string& path : control_files(pid)) {
      auto memory = map_control(path);
      if (memory == nullptr) continue;
      // A process may be a rank of other jobs, too. Names may have lost their ends.
      const auto& header = *static_cast<const wire::ControlHeader*>(memory->address());
      if (header.rank_count != has_left_.size() || header.ranks_here != here) continue;
      const std::uint32_t entered = wire::rank_block(header, rank).pid.load(std::memory_order_relaxed);
      if (entered == static_cast<std::uint32_t>(pid)) return memory;
    }
  }
  return nullptr;
}

std::vector<std::string> GatheringAgent::look_here() const {
  std::vector<std::string> sights;
  const auto memory = control();
  if (memory == nullptr) return sights;
  const comm::ControlView view = view_of(*static_cast<const wire::ControlHeader*>(memory->address()), memory->bytes());
  for (std::uint32_t rank = 0; rank < has_left_.size(); ++rank) {
    if (is_here(rank)) sights.push_back(encode_sight(view, rank, scale_));
  }
  return sights;
}

void GatheringAgent::on_look() {
  if (!welcome_) fail(Code::protocol, "somebody looks at ranks that have not met");
  for (const std::string& sight : look_here()) link_->send(sight);
  link_->send(FrameWriter(FrameKind::looked).finish());
}

void GatheringAgent::on_asked() {
  if (link_->open()) {
    link_->send(FrameWriter(FrameKind::look).finish());
    return;
  }
  // Nobody is there any more who could ask the others.
  for (const std::string& sight : look_here()) {
    FrameAssembler frames;
    frames.add(sight);
    auto whole = frames.next();
    picture_->draw(*whole);
  }
  for (std::uint32_t rank = 0; rank < has_left_.size(); ++rank) {
    if (!is_here(rank)) picture_->note_silence(rank);
  }
  picture_->answer();
}

}  // namespace baton::job
