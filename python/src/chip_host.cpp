#include "chip_host.hpp"

#include <fmt/format.h>

#include <baton/error.hpp>
#include <baton/options.hpp>

#include "errors.hpp"

namespace baton::python {

/// Memory of a chip, which gets it back with the last tensor.
class ChipMemory final : public Memory {
 public:
  ChipMemory(std::shared_ptr<ChipHost> host, std::shared_ptr<ChipTicket> ticket, const Buffer& buffer)
      : Memory(buffer, Writable::yes),
        host_(std::move(host)),
        ticket_(std::move(ticket)),
        place_(ticket_->thread->chip().memory_place()) {}
  ~ChipMemory() override {
    if (!freed) host_->unused_.push_back(buffer());
  }
  [[nodiscard]] const ChipHost* host() const noexcept { return host_.get(); }
  [[nodiscard]] MemoryPlace place() const noexcept override { return place_; }
  bool freed = false;

 private:
  std::shared_ptr<ChipHost> host_;
  std::shared_ptr<ChipTicket> ticket_;
  MemoryPlace place_;
};

namespace {

Tensor bytes_of(const Buffer& buffer) {
  const std::int64_t extent[] = {static_cast<std::int64_t>(buffer.bytes)};
  return {buffer, DType::uint8, extent};
}

}  // namespace

ChipHost::ChipHost(std::optional<Domain> domain, ChipOptions options)
    : output_heap_bytes_(options.output_heap_bytes != 0 ? options.output_heap_bytes
                                                        : baton::options().output_heap_bytes),
      ticket_(std::make_shared<ChipTicket>(ChipThread::start(std::move(domain), std::move(options)))) {
  run_there([](Chip&) {});
}

ChipThread& ChipHost::thread() const {
  if (!ticket_) throw Error(Code::released, "this chip was closed");
  ticket_->thread->check_process();
  return *ticket_->thread;
}

ChipHost::~ChipHost() {
  runner_ = {};
  close();
}

void ChipHost::close() {
  if (!ticket_) return;
  if (runner_ != std::thread::id{}) {
    throw Error(Code::invalid_argument, "the chip runs a graph", {"close it after the run"});
  }
  ticket_.reset();
  // What an interrupted run still uses must outlive it; nobody tells when that is.
  if (interrupted_ != nullptr) {
    static_cast<void>(new Held(std::move(held_)));
    static_cast<void>(new std::map<std::uint64_t, Known>(std::move(known_)));
  }
  held_ = {};
  known_.clear();
}

void ChipHost::wait_for_interrupted() {
  if (interrupted_ == nullptr) return;
  interrupted_->done.wait();
  interrupted_.reset();
  end_run();
}

Chip& ChipHost::chip() {
  ChipThread& thread = this->thread();
  if (runner_ != std::thread::id{} && runner_ != std::this_thread::get_id()) {
    throw Error(Code::invalid_argument, "the chip is in use by another thread",
                {"use a chip from one thread at a time, or make one for each"});
  }
  wait_for_interrupted();
  return thread.chip();
}

Array ChipHost::alloc(DType dtype, const std::vector<std::int64_t>& shape, const std::string& name) {
  Chip& chip = this->chip();
  if (runner_ == std::thread::id{}) end_run();
  std::int64_t bytes = static_cast<std::int64_t>(size_of(dtype));
  for (const std::int64_t extent : shape) {
    if (extent <= 0 || __builtin_mul_overflow(bytes, extent, &bytes)) {
      throw Error(Code::invalid_argument, fmt::format("\"{}\" cannot have a dimension of {} elements", name, extent));
    }
  }
  const Tensor memory = chip.alloc(DType::uint8, {bytes}, name);
  auto owner = std::make_shared<ChipMemory>(shared_from_this(), ticket_, memory.buffer());
  allocated_[memory.buffer().address] = memory.buffer().address + memory.buffer().bytes;
  if (shape.empty()) return {Tensor(memory.buffer(), dtype, {1}), std::move(owner)};
  return {Tensor(memory.buffer(), dtype, shape), std::move(owner)};
}

void ChipHost::free(const Array& array) {
  auto* memory = dynamic_cast<ChipMemory*>(array.memory.get());
  if (memory == nullptr || memory->host() != this) {
    throw Error(Code::invalid_argument, fmt::format("{} is not memory of this chip", array.tensor.describe()));
  }
  if (runner_ != std::thread::id{}) {
    throw Error(Code::invalid_argument, "memory is not freed while a graph may use it", {"free it after the run"});
  }
  Chip& chip = this->chip();
  memory->release("the tensor");
  memory->freed = true;
  free_there(chip, memory->buffer());
}

void ChipHost::free_there(Chip& chip, const Buffer& buffer) {
  chip.free(bytes_of(buffer));
  allocated_.erase(buffer.address);
}

bool ChipHost::is_own(const Buffer& buffer) const {
  const auto after = allocated_.upper_bound(buffer.address);
  return after != allocated_.begin() && buffer.address + buffer.bytes <= std::prev(after)->second;
}

const ChipHost::Known* ChipHost::known(const Buffer& buffer) const {
  auto after = known_.upper_bound(buffer.address);
  if (after == known_.begin()) return nullptr;
  const auto& [address, range] = *std::prev(after);
  return buffer.address + buffer.bytes <= range.end ? &range : nullptr;
}

void ChipHost::add(const Array& array, const std::string& name) {
  Chip& chip = this->chip();
  if (!array.memory || !array.memory->is_external()) {
    throw Error(Code::invalid_argument, "only memory of others is added to a chip");
  }
  const Buffer& buffer = array.memory->buffer();
  if (known(buffer) != nullptr || is_own(buffer)) return;
  chip.add_memory(buffer, name, array.memory->place());
  known_[buffer.address] = {buffer.address + buffer.bytes, array.memory, false};
}

void ChipHost::remove(const Array& array) {
  Chip& chip = this->chip();
  const auto found = array.memory ? known_.find(array.memory->buffer().address) : known_.end();
  if (found == known_.end()) throw Error(Code::released, "this memory was not added to the chip");
  chip.remove(bytes_of(found->second.memory->buffer()));
  known_.erase(found);
}

void ChipHost::use(const Array& array) {
  static_cast<void>(array.get());
  if (!array.memory) return;
  held_.memory.insert(array.memory);
  if (!array.memory->is_external()) return;
  const Buffer& buffer = array.memory->buffer();
  if (known(buffer) != nullptr || is_own(buffer)) return;
  thread().chip().add_memory(buffer, "array", array.memory->place());
  known_[buffer.address] = {buffer.address + buffer.bytes, array.memory, !capturing_};
}

void ChipHost::begin_run() {
  static_cast<void>(chip());
  if (runner_ != std::thread::id{}) throw Error(Code::invalid_argument, "a graph of this chip is being built already");
  runner_ = std::this_thread::get_id();
}

/// When no kernel runs any more.
void ChipHost::end_run() {
  runner_ = {};
  Chip& chip = thread().chip();
  for (auto entry = known_.begin(); entry != known_.end();) {
    if (!entry->second.for_one_run) {
      ++entry;
      continue;
    }
    chip.remove(bytes_of(entry->second.memory->buffer()));
    entry = known_.erase(entry);
  }
  held_ = {};  // may add to unused_
  for (const Buffer& buffer : std::exchange(unused_, {})) free_there(chip, buffer);
}

void ChipHost::run(Body body, const Orchestration& orchestration) {
  begin_run();
  auto lent = std::make_shared<LentGraph>();
  const auto job = thread().post([lent, body = std::move(body)](Chip& chip) {
    try {
      body(chip, *lent);
    } catch (...) {
      lent->cancel();
      throw;
    }
    lent->cancel();
  });
  std::exception_ptr failed;
  bool interrupted = false;
  try {
    if (Graph* graph = lent->await()) orchestration(*graph, *lent);
  } catch (nb::python_error& error) {
    failed = std::current_exception();
    // Ctrl-C and exit: kernels are not waited for.
    interrupted = !error.matches(PyExc_Exception);
  } catch (...) {
    failed = std::current_exception();
  }
  lent->give_back(failed ? Outcome::failed : Outcome::good);
  if (!interrupted) {
    try {
      job->done.wait();
    } catch (nb::python_error&) {
      failed = std::current_exception();
      interrupted = true;
    }
  }
  if (interrupted) {
    interrupted_ = job;
    thread().abandon();
    runner_ = {};
    std::rethrow_exception(failed);
  }
  end_run();
  raise_outcome(job->error, failed);
}

ChipHost::Held ChipHost::capture(Body body, const Orchestration& orchestration) {
  Held held;
  capturing_ = true;
  try {
    run(std::move(body), [&](Graph& graph, LentGraph& lent) {
      orchestration(graph, lent);
      held = held_;
    });
  } catch (...) {
    capturing_ = false;
    throw;
  }
  capturing_ = false;
  return held;
}

void ChipHost::run_captured(const std::vector<Array>& arrays, std::function<void(Chip&)> body) {
  begin_run();
  std::shared_ptr<ChipJob> job;
  try {
    for (const Array& array : arrays) use(array);
    job = thread().post(std::move(body));
    job->done.wait();
  } catch (...) {
    runner_ = {};
    interrupted_ = job;
    if (job == nullptr) {
      end_run();
    } else {
      thread().abandon();
    }
    throw;
  }
  end_run();
  if (job->error) std::rethrow_exception(job->error);
}

void ChipHost::run_there(std::function<void(Chip&)> body) {
  ChipThread& thread = this->thread();
  wait_for_interrupted();
  const auto job = thread.post(std::move(body));
  try {
    job->done.wait();
  } catch (nb::python_error&) {
    interrupted_ = job;
    thread.abandon();
    throw;
  }
  if (job->error) std::rethrow_exception(job->error);
}

}  // namespace baton::python
