#include "chip/runtime/captured_state.hpp"

#include <algorithm>

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "chip/runtime/known_memory.hpp"
#include "chip/sched/failure.hpp"

namespace baton::chip {

CapturedState::CapturedState(const ChipState& chip, std::shared_ptr<LocalMemory> memory, OwnedBuffer outputs)
    : owner_(&chip),
      memory_(std::move(memory)),
      heap_bytes_(std::move(outputs)),
      heap_(heap_bytes_.buffer(), kChipAlignment, "BATON_OUTPUT_HEAP"),
      map_(std::make_unique<graph::TensorMap>([this](const graph::View& view) { require_known(*memory_, view); })) {
  memory_->add_buffer(heap_bytes_.data(), heap_bytes_.bytes(), "outputs of a captured graph");
}

CapturedState::~CapturedState() { memory_->remove_buffer(heap_bytes_.data()); }

void CapturedState::add_descriptor(const Tensor& tensor, Access access, ChipTensor& descriptor) {
  const Buffer& buffer = tensor.buffer();
  if (buffer.space != MemorySpace::host || tensor.is_empty()) return;
  const bool written = access == Access::out || access == Access::inout || access == Access::no_dependency;
  if (!pieces_.empty()) {
    // Most tasks use what the one before used.
    Piece& last = pieces_.back();
    if (last.begin == buffer.address && last.end == buffer.address + buffer.bytes && last.written == written) {
      last.descriptors.push_back(&descriptor);
      return;
    }
  }
  pieces_.push_back({buffer.address, buffer.address + buffer.bytes, written, {&descriptor}});
}

void CapturedState::add_submission(std::span<const Argument> arguments, Edges edges) {
  submitted_.push_back({accesses_.size(), edges});
  for (const Argument& argument : arguments) {
    if (argument.tensor() != nullptr) accesses_.push_back(argument.access());
  }
}

void CapturedState::close() {
  map_.reset();
  std::ranges::sort(pieces_, {}, &Piece::begin);
  std::vector<Piece> apart;
  for (Piece& piece : pieces_) {
    if (apart.empty() || piece.begin >= apart.back().end) {
      apart.push_back(std::move(piece));
      continue;
    }
    Piece& before = apart.back();
    before.end = std::max(before.end, piece.end);
    before.written = before.written || piece.written;
    before.descriptors.insert(before.descriptors.end(), piece.descriptors.begin(), piece.descriptors.end());
  }
  pieces_ = std::move(apart);
  tasks_.close();
}

CapturedState::Piece& CapturedState::piece_of(const Binding& binding) {
  const Buffer& captured = binding.captured.buffer();
  const auto found = std::ranges::find_if(pieces_, [&](const Piece& piece) {
    return captured.address < piece.end && piece.begin < captured.address + captured.bytes;
  });
  if (found == pieces_.end()) {
    fail(Code::invalid_argument, "the captured graph does not use {}", binding.captured.describe());
  }
  if (captured.address > found->begin || captured.address + captured.bytes < found->end) {
    fail(Code::invalid_argument,
         "{} is a part of what the captured graph uses there, {} bytes at {:#x}; bind all of it",
         binding.captured.describe(), found->end - found->begin, found->begin);
  }
  return *found;
}

void CapturedState::check_apart() const {
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    const Piece* piece;
  };
  std::vector<Range> ranges;
  ranges.reserve(pieces_.size());
  for (const Piece& piece : pieces_) ranges.push_back({piece.begin + piece.move_by, piece.end + piece.move_by, &piece});
  std::ranges::sort(ranges, {}, &Range::begin);
  const Range* widest = nullptr;
  const Range* widest_written = nullptr;
  for (const Range& range : ranges) {
    // Those that are only read may lie on each other.
    const Range* before = range.piece->written ? widest : widest_written;
    if (before != nullptr && range.begin < before->end) {
      fail(Code::invalid_argument,
           "two buffers that were apart when the graph was captured would share {:#x}: no edge keeps their tasks in "
           "order; bind separate memory, or capture the graph with the shared one",
           range.begin);
    }
    if (widest == nullptr || range.end > widest->end) widest = &range;
    if (range.piece->written && (widest_written == nullptr || range.end > widest_written->end)) widest_written = &range;
  }
}

void CapturedState::check_room(const Binding& binding) const {
  const Buffer& captured = binding.captured.buffer();
  const Buffer& instead = binding.instead.buffer();
  if (instead.bytes < captured.bytes || instead.space != captured.space) {
    fail(Code::invalid_argument, "{} has no room for {}", binding.instead.describe(), binding.captured.describe());
  }
  if (!memory_->known(reinterpret_cast<const void*>(instead.address), captured.bytes)) {
    fail(Situation::not_chip_memory, "{} is not memory of this chip, or was freed before", binding.instead.describe());
  }
}

void CapturedState::bind(std::span<const Binding> bindings) {
  for (Piece& piece : pieces_) piece.move_by = 0;
  for (const Binding& binding : bindings) {
    check_room(binding);
    piece_of(binding).move_by = binding.instead.buffer().address - binding.captured.buffer().address;
  }
  if (!bindings.empty()) check_apart();
  for (Piece& piece : pieces_) {
    if (piece.move_by == piece.moved_by) continue;
    for (ChipTensor* descriptor : piece.descriptors) descriptor->buffer.addr += piece.move_by - piece.moved_by;
    piece.moved_by = piece.move_by;
    tasks_.arguments_changed();
  }
}

void CapturedState::fill_outputs(ChipMemory& memory) const {
  for (const Fill& fill : fills_) fill_elements(memory, fill.output, fill.value);
}

void CapturedState::set_scalar(TaskId task, std::size_t scalar, std::int64_t slot) {
  if (task == 0 || task > tasks_.newest()) {
    fail(Code::invalid_argument, "there is no task {} in a captured graph of {}", task, tasks_.newest());
  }
  const TaskPlan& plan = tasks_[task].plan;
  if (scalar >= plan.arg_count - plan.tensor_count) {
    fail(Code::invalid_argument, "{} has {} scalars, so none with number {}", describe_task(tasks_[task]),
         plan.arg_count - plan.tensor_count, scalar);
  }
  plan.args[plan.tensor_count + scalar] = slot;
  tasks_.arguments_changed();
}

std::string CapturedState::drawing() const {
  std::string text = "digraph captured {\n  node [shape=box, fontname=\"sans-serif\"];\n";
  for (TaskId id = 1; id <= tasks_.newest(); ++id) {
    const TaskPlan& plan = tasks_[id].plan;
    const char* name = *plan.name != '\0' ? plan.name : plan.waits_for_counter() ? "notification wait" : "empty";
    const std::string blocks = plan.blocks > 1 ? fmt::format(" x {}", plan.blocks) : "";
    text += fmt::format("  t{} [label=\"{} {}{}\"];\n", id, id, name, blocks);
  }
  for (TaskId id = 1; id <= tasks_.newest(); ++id) {
    for (const TaskId earlier : tasks_.predecessors(id)) text += fmt::format("  t{} -> t{};\n", earlier, id);
  }
  return text + "}\n";
}

}  // namespace baton::chip
