// Arguments that hold the tasks to wait for themselves.
#ifndef PTO_ARG_WITH_DEPS_H
#define PTO_ARG_WITH_DEPS_H

#include <pto_orchestration_api.h>
#include <utility>

/// CoreTaskArgs with room for `kMostTasks` tasks to wait for.
template <uint32_t kMostTasks = 16>
class CoreTaskArgsWithDeps {
 public:
  CoreTaskArgsWithDeps() : launch_spec(args_.launch_spec) {}
  CoreTaskArgsWithDeps(const CoreTaskArgsWithDeps&) = delete;
  CoreTaskArgsWithDeps& operator=(const CoreTaskArgsWithDeps&) = delete;

  LaunchSpec& launch_spec;

  template <typename... Tensors>
  void add_input(Tensors&&... tensors) {
    args_.add_input(std::forward<Tensors>(tensors)...);
  }
  template <typename... Tensors>
  void add_inout(Tensors&&... tensors) {
    args_.add_inout(std::forward<Tensors>(tensors)...);
  }
  template <typename... Outputs>
  void add_output(Outputs&&... outputs) {
    args_.add_output(std::forward<Outputs>(outputs)...);
  }
  template <typename... Scalars>
  void add_scalar(Scalars... values) {
    args_.add_scalar(values...);
  }
  template <uint32_t kTensors, uint32_t kScalars>
  void copy_scalars_from(const baton::orchestration::TaskArguments<kTensors, kScalars>& source, uint32_t from,
                         uint32_t count) {
    args_.copy_scalars_from(source, from, count);
  }
  /// The task waits for these, too.
  template <typename... Tasks>
  void add_dep(Tasks... tasks) {
    (add_one(tasks), ...);
  }
  void set_predicate(const CoreTaskPredicate& predicate) { args_.set_predicate(predicate); }
  void set_allow_early_resolve(bool allowed = true) { args_.set_allow_early_resolve(allowed); }
  void set_task_timing_slot(int slot) { args_.set_task_timing_slot(slot); }
  template <typename... Added>
  void dump(const Added&... added) {
    args_.dump(added...);
  }
  void reset() {
    count_ = 0;
    args_.reset();
  }
  uint32_t tensor_count() const { return args_.tensor_count(); }
  uint32_t scalar_count() const { return args_.scalar_count(); }
  void set_error(const char* message) { args_.set_error(message); }

  friend const CoreTaskArgs& core_task_args(const CoreTaskArgsWithDeps& args) { return args.args_; }

 private:
  void add_one(PTO2TaskId task) {
    if (count_ == kMostTasks) return args_.set_error("add_dep: more tasks to wait for than there is room for");
    tasks_[count_++] = task;
    args_.set_dependencies(nullptr, 0);
    args_.set_dependencies(tasks_, count_);
  }

  CoreTaskArgs args_;
  PTO2TaskId tasks_[kMostTasks];
  uint32_t count_ = 0;
};

#endif
