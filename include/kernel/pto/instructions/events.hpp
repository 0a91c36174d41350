// Events: objects of the author that an instruction awaits before it starts.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/enums.hpp>
#include <pto/target/compiler.hpp>
#include <type_traits>
#include <utility>

namespace baton::kernel {

template <typename Type>
concept Event = requires(Type& event) {
  event.Wait();
};

template <typename... Arguments>
inline constexpr size_t event_count = ((Event<std::remove_reference_t<Arguments>> ? 1 : 0) + ... + 0);

template <size_t index, typename First, typename... Rest>
PTO_INLINE AICORE auto& argument_at(First& first, Rest&... rest) {
  if constexpr (index == 0) {
    return first;
  } else {
    return argument_at<index - 1>(rest...);
  }
}

template <typename Argument>
PTO_INLINE AICORE void wait_if_event(Argument& argument) {
  if constexpr (Event<Argument>) argument.Wait();
}

/// Awaits the events at the end of `arguments`, then calls `instruction` with those before them.
template <size_t... index, typename Instruction, typename... Arguments>
AICORE pto::RecordEvent run_after_events(std::index_sequence<index...>, Instruction instruction,
                                         Arguments&... arguments) {
  (wait_if_event(arguments), ...);
  return instruction(argument_at<index>(arguments...)...);
}

}  // namespace baton::kernel

// Adds to an instruction the form that ends with events.
#define PTO_WITH_EVENTS(NAME)                                                                                \
  template <typename... Arguments>                                                                           \
  requires(baton::kernel::event_count<Arguments...> > 0) AICORE RecordEvent NAME(Arguments&&... arguments) { \
    constexpr size_t kOperands = sizeof...(Arguments) - baton::kernel::event_count<Arguments...>;            \
    return baton::kernel::run_after_events(                                                                  \
        std::make_index_sequence<kOperands>(),                                                               \
        [](auto&... operands) { return NAME(operands..., baton::kernel::Where::unknown()); }, arguments...); \
  }

namespace pto {

/// Awaits events.
template <typename... WaitEvents>
AICORE void TSYNC(WaitEvents&... events) {
  (events.Wait(), ...);
}

}  // namespace pto
