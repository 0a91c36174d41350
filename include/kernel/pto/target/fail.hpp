// How an instruction reports that it cannot be carried out.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/target/compiler.hpp>
#include <pto/target/core.hpp>
#include <pto/target/place.hpp>

namespace baton::kernel {

#if defined(PTO_NO_CHECKS)
inline constexpr bool kChecks = false;
#else
inline constexpr bool kChecks = true;
#endif

PTO_INLINE AICORE BatonCore& current_core() { return *baton_core_current(); }

/// A message put together from words and numbers, cut at its end if it is too long.
class Message {
 public:
  AICORE void add(const char* words) {
    while (*words != '\0') add(*words++);
  }
  AICORE void add(char character) {
    if (length_ + 1 < sizeof text_) text_[length_++] = character;
  }
  template <typename Number>
  AICORE void add(Number number) {
    if constexpr (static_cast<Number>(-1) < static_cast<Number>(0)) {
      add_number(number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number), number < 0);
    } else {
      add_number(static_cast<uint64_t>(number), false);
    }
  }
  AICORE const char* text() {
    text_[length_] = '\0';
    return text_;
  }

 private:
  AICORE void add_number(uint64_t magnitude, bool negative) {
    char digits[20];
    int count = 0;
    do {
      digits[count++] = static_cast<char>('0' + magnitude % 10);
      magnitude /= 10;
    } while (magnitude != 0);
    if (negative) add('-');
    while (count > 0) add(digits[--count]);
  }

  size_t length_ = 0;
  char text_[400];
};

/// Ends the kernel with an error. `parts` are words and integers.
template <typename... Parts>
[[noreturn]] PTO_COLD AICORE void fail(const BatonPlace& place, BatonKernelError code, Parts... parts) {
  Message message;
  (message.add(parts), ...);
  const BatonFailure failure{code, 0, &place, message.text()};
  BatonCore& core = current_core();
  core.table->fail(&core, &failure);
  PTO_TRAP();
}

}  // namespace baton::kernel
