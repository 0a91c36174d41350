// Scopes, single elements of tensors, and how many cores there are.
#ifndef BATON_ORCHESTRATION_ELEMENTS_HPP
#define BATON_ORCHESTRATION_ELEMENTS_HPP

#include <orchestration/report.hpp>

/// One element. Waits for the tasks that write it.
template <typename Value = uint64_t>
Value get_tensor_data(const ChipTensor& tensor, uint32_t ndims, const uint32_t indices[],
                      const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE()) {
  return from_u64<Value>(baton::orchestration::runtime().get(&tensor, ndims, indices, {file, line}));
}
/// Waits for the tasks that write the element, and for those that read it.
template <typename Value>
void set_tensor_data(const ChipTensor& tensor, uint32_t ndims, const uint32_t indices[], Value value,
                     const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE()) {
  baton::orchestration::runtime().set(&tensor, ndims, indices, to_u64(value), {file, line});
}

enum class PTO2ScopeMode : uint32_t { AUTO, MANUAL };

inline void rt_scope_begin(PTO2ScopeMode mode = PTO2ScopeMode::AUTO, const char* file = __builtin_FILE(),
                           uint32_t line = __builtin_LINE()) {
  baton::orchestration::runtime().open_scope(mode == PTO2ScopeMode::MANUAL ? 1 : 0, {file, line});
}
inline void rt_scope_end(const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE()) {
  baton::orchestration::runtime().close_scope({file, line});
}

class PTO2ScopeGuard {
 public:
  explicit PTO2ScopeGuard(PTO2ScopeMode mode = PTO2ScopeMode::AUTO, const char* file = __builtin_FILE(),
                          uint32_t line = __builtin_LINE())
      : file_(file), line_(line) {
    rt_scope_begin(mode, file, line);
  }
  PTO2ScopeGuard(const PTO2ScopeGuard&) = delete;
  PTO2ScopeGuard& operator=(const PTO2ScopeGuard&) = delete;
  ~PTO2ScopeGuard() { rt_scope_end(file_, line_); }

 private:
  const char* file_;
  uint32_t line_;
};

#define BATON_SCOPE_NAME_OF(number) pto2_scope_##number
#define BATON_SCOPE_NAME(number) BATON_SCOPE_NAME_OF(number)

/// PTO2_SCOPE() { ... } and PTO2_SCOPE(PTO2ScopeMode::MANUAL) { ... }
#define PTO2_SCOPE(...) if (const PTO2ScopeGuard BATON_SCOPE_NAME(__COUNTER__){__VA_ARGS__}; true)
/// Until the end of the block that it stands in.
#define PTO2_SCOPE_GUARD(...) \
  [[maybe_unused]] const PTO2ScopeGuard BATON_SCOPE_NAME(__COUNTER__) { __VA_ARGS__ }

inline int32_t rt_available_cluster_count() { return baton::orchestration::runtime().cluster_count(); }
inline int32_t rt_available_aiv_count() { return baton::orchestration::runtime().vector_core_count(); }

#endif
