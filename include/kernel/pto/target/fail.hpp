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

/// A word or a whole number of a message.
struct MessagePart {
  const char* words;  // null for a number
  uint64_t magnitude;
  bool negative;

  PTO_INLINE AICORE MessagePart(const char* text)  // NOLINT(google-explicit-constructor): lists of both are written
      : words(text), magnitude(0), negative(false) {}
  template <typename Number>
  PTO_INLINE AICORE MessagePart(Number number)  // NOLINT(google-explicit-constructor)
      : words(nullptr), magnitude(static_cast<uint64_t>(number)), negative(false) {
    if constexpr (static_cast<Number>(-1) < static_cast<Number>(0)) {
      negative = number < 0;
      if (negative) magnitude = 0 - magnitude;
    }
  }
};

/// A message put together from words and numbers, cut at its end if it is too long.
class Message {
 public:
  AICORE void add(const MessagePart& part) {
    if (part.words == nullptr) {
      add_number(part.magnitude, part.negative);
    } else {
      for (const char* words = part.words; *words != '\0'; ++words) add_character(*words);
    }
  }
  AICORE void add_character(char character) {
    if (length_ + 1 < sizeof text_) text_[length_++] = character;
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
    if (negative) add_character('-');
    while (count > 0) add_character(digits[--count]);
  }

  size_t length_ = 0;
  char text_[500];
};

/// One function for all errors: what is compiled into each instruction is a list of parts.
PTO_ONCE [[noreturn]] PTO_COLD AICORE void fail_with(BatonPlace place, BatonKernelError code, const MessagePart* parts,
                                                     size_t count) {
  Message message;
  for (size_t i = 0; i < count; ++i) message.add(parts[i]);
  const BatonFailure failure{code, 0, &place, message.text()};
  BatonCore& core = current_core();
  core.table->fail(&core, &failure);
  PTO_TRAP();
}

/// Ends the kernel with an error. `parts` are words and integers.
template <typename... Parts>
[[noreturn]] PTO_INLINE AICORE void fail(const BatonPlace& place, BatonKernelError code, Parts... parts) {
  const MessagePart all[] = {MessagePart(parts)...};
  fail_with(place, code, all, sizeof...(Parts));
}

}  // namespace baton::kernel
