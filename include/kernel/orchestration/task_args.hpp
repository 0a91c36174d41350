// The arguments of a task: tensors, then scalars, and how it is to be run.
#ifndef BATON_ORCHESTRATION_TASK_ARGS_HPP
#define BATON_ORCHESTRATION_TASK_ARGS_HPP

#include <orchestration/tensors.hpp>
#include <type_traits>

enum class PredicateOp : uint32_t { NONE, EQ, NE, GT, LT, GE, LE };

/// The task runs only if the element compares so with the target when the task is ready.
struct CoreTaskPredicate {
  struct Operand {
    const ChipTensor* tensor = nullptr;
    uint32_t ndims = 0;
    uint32_t indices[5] = {};
  };
  Operand operand;
  PredicateOp op = PredicateOp::NONE;
  int64_t target = 0;
};

/// How many blocks a task has.
class LaunchSpec {
 public:
  void set_block_num(int16_t count) { blocks_ = count; }
  void set_core_num(int16_t count) { blocks_ = count; }
  void set_require_sync_start(bool required) { start_together_ = required; }
  int16_t block_num() const { return blocks_; }
  bool require_sync_start() const { return start_together_; }

 private:
  int16_t blocks_ = 1;
  bool start_together_ = false;
};

namespace baton::orchestration {

/// What tensor(i) gives.
class TensorSlot {
 public:
  explicit TensorSlot(const BatonTensorArgument* argument) : argument_(argument) {}
  /// Not const: authors bind it to either kind of reference.
  ChipTensor& ref() const {
    static ChipTensor nothing{};
    if (argument_ == nullptr || argument_->use == BATON_USE_CREATE) return nothing;
    return *const_cast<ChipTensor*>(static_cast<const ChipTensor*>(argument_->object));
  }

 private:
  const BatonTensorArgument* argument_;
};

/// Tensors are kept by their addresses until the submission; a tensor that was added after a scalar, or for which there
/// is no room, is an error that the submission reports.
template <uint32_t kMaxTensors, uint32_t kMaxScalars>
class TaskArguments {
 public:
  TaskArguments() = default;
  TaskArguments(const TaskArguments&) = delete;
  TaskArguments& operator=(const TaskArguments&) = delete;

  LaunchSpec launch_spec;
  bool has_error = false;
  const char* error_msg = nullptr;

  uint32_t tensor_count() const { return tensor_count_; }
  uint32_t scalar_count() const { return scalar_count_; }
  TensorSlot tensor(uint32_t i, const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE()) const {
    if (i < tensor_count_) return TensorSlot(tensors_ + i);
    report(PTO2_ERROR_INVALID_ARGS, {file, line}, "tensor %u was asked for; there are %u", i, tensor_count_);
    return TensorSlot(nullptr);
  }
  uint64_t scalar(uint32_t i, const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE()) const {
    if (i < scalar_count_) return scalars_[i];
    report(PTO2_ERROR_INVALID_ARGS, {file, line}, "scalar %u was asked for; there are %u", i, scalar_count_);
    return 0;
  }

  template <typename... Tensors>
  void add_input(Tensors&&... tensors) {
    (add_existing(tensors, BATON_USE_INPUT, is_lvalue<Tensors>()), ...);
  }
  template <typename... Tensors>
  void add_inout(Tensors&&... tensors) {
    (add_existing(tensors, BATON_USE_INOUT, is_lvalue<Tensors>()), ...);
  }
  /// All of them exist, or all of them are to be created.
  template <typename... Outputs>
  void add_output(Outputs&&... outputs) {
    constexpr bool kAllExist = (std::is_same_v<std::decay_t<Outputs>, ChipTensor> && ...);
    constexpr bool kNoneExists = (std::is_same_v<std::decay_t<Outputs>, TensorCreateInfo> && ...);
    static_assert(kAllExist || kNoneExists, "outputs that exist and outputs to be created go into calls of their own");
    if constexpr (kAllExist) {
      (add_existing(outputs, BATON_USE_OUTPUT, is_lvalue<Outputs>()), ...);
    } else {
      (add_created(outputs, is_lvalue<Outputs>()), ...);
    }
  }

  template <typename... Scalars>
  void add_scalar(Scalars... values) {
    static_assert(((std::is_arithmetic_v<Scalars> || std::is_enum_v<Scalars>)&&...),
                  "a scalar is a number or of an enumeration");
    (add_bits(to_u64(values)), ...);
  }
  template <uint32_t kTensors, uint32_t kScalars>
  void copy_scalars_from(const TaskArguments<kTensors, kScalars>& source, uint32_t from, uint32_t count) {
    if (from > source.scalar_count() || count > source.scalar_count() - from) {
      set_error("copy_scalars_from: more scalars than the source has");
      return;
    }
    for (uint32_t i = 0; i < count; ++i) add_bits(source.scalar(from + i));
  }

  /// Edges beside those that are found. The array lives until the submission.
  void set_dependencies(const PTO2TaskId* tasks, uint32_t count) {
    if (count != 0 && after_count_ != 0) {
      set_error("set_dependencies: called twice; one array names all tasks to wait for");
      return;
    }
    after_ = count == 0 ? nullptr : tasks;
    after_count_ = count;
  }
  void set_predicate(const CoreTaskPredicate& predicate) { predicate_ = predicate; }

  // Hints to schedulers of chips.
  void set_allow_early_resolve(bool = true) {}
  void set_task_timing_slot(int) {}

  /// These, which were added before, are to be seen in dumps; none named: all. Scalars are known by their values.
  template <typename... Added>
  void dump(const Added&... added) {
    if constexpr (sizeof...(Added) == 0) {
      for (uint32_t i = 0; i < tensor_count_; ++i) tensors_[i].dump = 1;
      for (uint32_t i = 0; i < scalar_count_; ++i) dumped_scalars_ |= bit_of(i);
    } else {
      (mark_for_dump(added), ...);
    }
  }

  void reset() {
    tensor_count_ = scalar_count_ = after_count_ = 0;
    after_ = nullptr;
    dumped_scalars_ = 0;
    launch_spec = {};
    predicate_ = {};
    has_error = false;
    error_msg = nullptr;
  }
  /// The first one counts.
  void set_error(const char* message) {
    if (has_error) return;
    has_error = true;
    error_msg = message;
  }

  /// For the runtime, which reads it before the next change. `predicate` is memory of the caller.
  BatonTaskRequest request(BatonTaskKind kind, BatonPredicate& predicate, BatonPlaceInSource where) const {
    BatonTaskRequest asked{};
    asked.kind = kind;
    for (int32_t& kernel : asked.kernels) kernel = -1;
    asked.tensors = tensors_;
    asked.scalars = scalars_;
    asked.after = after_;
    asked.tensor_count = tensor_count_;
    asked.scalar_count = scalar_count_;
    asked.after_count = after_count_;
    asked.blocks = launch_spec.block_num();
    asked.start_together = launch_spec.require_sync_start() ? 1 : 0;
    asked.dumped_scalars = dumped_scalars_;
    asked.error = has_error ? error_msg : nullptr;
    asked.where = where;
    if (predicate_.op != PredicateOp::NONE) {
      predicate = {predicate_.operand.tensor, predicate_.operand.indices, predicate_.operand.ndims,
                   static_cast<BatonPredicateOp>(predicate_.op), predicate_.target};
      asked.predicate = &predicate;
    }
    return asked;
  }
  /// The same for those who call an orchestration.
  void add_tensor(const ChipTensor& tensor) { add(&tensor, BATON_USE_INOUT); }
  void add_bits(uint64_t bits) {
    if (scalar_count_ == kMaxScalars) return set_error("more scalars than there is room for");
    scalars_[scalar_count_++] = bits;
  }

 private:
  template <typename Added>
  static constexpr auto is_lvalue() {
    return std::bool_constant<std::is_lvalue_reference_v<Added>>();
  }
  template <bool kLvalue>
  void add_existing(const ChipTensor& tensor, BatonTensorUse use, std::bool_constant<kLvalue>) {
    static_assert(kLvalue, "arguments are kept by their addresses: name the tensor, and keep it until the submission");
    add(&tensor, use);
  }
  template <bool kLvalue>
  void add_created(const TensorCreateInfo& info, std::bool_constant<kLvalue>) {
    static_assert(kLvalue, "arguments are kept by their addresses: name it, and keep it until the submission");
    add(static_cast<const BatonCreateInfo*>(&info), BATON_USE_CREATE);
  }
  void add(const void* object, BatonTensorUse use) {
    if (scalar_count_ != 0) return set_error("a tensor was added after a scalar: tensors come first");
    if (tensor_count_ == kMaxTensors) return set_error("more tensors than there is room for");
    tensors_[tensor_count_++] = {object, use, 0};
  }
  template <typename Added>
  void mark_for_dump(const Added& added) {
    bool found = false;
    if constexpr (std::is_arithmetic_v<Added> || std::is_enum_v<Added>) {
      for (uint32_t i = 0; i < scalar_count_; ++i) {
        if (scalars_[i] != to_u64(added)) continue;
        dumped_scalars_ |= bit_of(i);
        found = true;
      }
    } else {
      for (uint32_t i = 0; i < tensor_count_; ++i) {
        if (tensors_[i].object != &added) continue;
        tensors_[i].dump = 1;
        found = true;
      }
    }
    if (!found) set_error("dump: this was not added before");
  }
  /// Arguments of tasks have fewer scalars than that; those of others are not dumped.
  static uint64_t bit_of(uint32_t scalar) { return scalar < 64 ? uint64_t{1} << scalar : 0; }

  uint32_t tensor_count_ = 0;
  uint32_t scalar_count_ = 0;
  uint32_t after_count_ = 0;
  const PTO2TaskId* after_ = nullptr;
  uint64_t dumped_scalars_ = 0;
  CoreTaskPredicate predicate_;
  BatonTensorArgument tensors_[kMaxTensors];
  uint64_t scalars_[kMaxScalars];
};

}  // namespace baton::orchestration

using CoreTaskArgs = baton::orchestration::TaskArguments<32, 16>;
using GraphTaskArgs = baton::orchestration::TaskArguments<128, 64>;
using ChipTaskArgs = baton::orchestration::TaskArguments<256, 128>;

#endif
