// A rank with a chip whose kernels call collectives, in one room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <baton/chip.hpp>
#include <collectives/member.hpp>

#include "cases.hpp"
#include "chip_kernels.hpp"

namespace baton::test {

class CallingRank {
 public:
  CallingRank(Domain& me, std::size_t data_bytes, std::size_t room_bytes, const ChipOptions& options)
      : me_(me),
        buffers_(me, data_bytes),
        signal_count_(static_cast<std::size_t>(collectives::signals_needed(me.size()))),
        window_(me.raw_window("room", signal_count_ * 4 + room_bytes)),
        chip_(me, options) {
    std::byte* start = window_.local();
    signals_ = Tensor::over(std::span(reinterpret_cast<std::int32_t*>(start), signal_count_));
    room_ = Tensor::over(std::span(start + signal_count_ * 4, room_bytes));
    counts_ = chip_.alloc<std::int32_t>({2 * me.size()});
    waits_ = chip_.alloc<std::int32_t>({1});
  }

  /// Elements that are wrong after the call.
  std::size_t call(const Case& one, int round) {
    return call(one, round, [&](Graph& graph, const std::vector<Argument>& arguments) {
      graph.submit_arguments(kCallCollective, arguments);
    });
  }
  /// The same without the wait of that number, of all that this rank has made so far in such calls.
  std::size_t call_without(int left_out, const Case& one, int round) {
    return call(one, round, [&](Graph& graph, std::vector<Argument> arguments) {
      arguments.emplace_back(left_out);
      arguments.insert(arguments.begin() + kTensorsOfCall, Argument(Access::inout, waits_));
      graph.submit_arguments(kCallWithoutAWait, arguments);
    });
  }
  /// Waits that call_without() has made or left out.
  [[nodiscard]] int waits() {
    std::vector<std::int32_t> waits(1);
    chip_.copy_out<std::int32_t>(waits_, waits);
    return waits.front();
  }

 private:
  using Submit = std::function<void(Graph&, const std::vector<Argument>&)>;

  [[nodiscard]] static Tensor tensor_of(const void* address, std::size_t bytes) {
    const auto* begin = static_cast<const std::byte*>(address);
    return Tensor::over(std::span(const_cast<std::byte*>(begin), std::max<std::size_t>(1, bytes)));
  }

  std::size_t call(const Case& one, int round, const Submit& submit) {
    const Maker maker = [&](const Domain&, const Case& made, ConstData in, Data out) { make(made, in, out, submit); };
    return wrong_elements(me_, buffers_, one, round, maker);
  }

  void make(const Case& one, ConstData in, Data out, const Submit& submit) {
    chip_.copy_in<std::int32_t>(counts_, std::vector<std::int32_t>(static_cast<std::size_t>(2 * me_.size()),
                                                                   static_cast<std::int32_t>(one.count)));
    const std::byte* from = one.operation == collectives::Operation::broadcast ? out.address() : in.address();
    const std::size_t in_bytes = in.count() * size_of(one.element);
    chip_.run([&](Graph& graph) {
      const Tensor x = tensor_of(from, in_bytes);
      const Tensor y = tensor_of(out.address(), out.count() * size_of(one.element));
      submit(graph, {Argument(Access::in, x), Argument(Access::inout, y), Argument(Access::inout, room_),
                     Argument(Access::inout, signals_), Argument(Access::in, counts_), window_.context(), one.operation,
                     one.element, one.op, one.root, one.algorithm, one.count});
    });
  }

  Domain& me_;
  Buffers buffers_;
  std::size_t signal_count_;
  RawWindow window_;
  Chip chip_;
  Tensor signals_;
  Tensor room_;
  Tensor counts_;
  Tensor waits_;
};

}  // namespace baton::test
