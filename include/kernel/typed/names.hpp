// The names of parameters, from the text of their declaration.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <stddef.h>

namespace baton::kernel {

/// The names in "In<float, 2> x, float factor": x and factor, each ended by a zero. Empty where a parameter has none.
template <size_t kCount, size_t kTextBytes>
struct ParameterNames {
  char text[kTextBytes + kCount + 1] = {};
  size_t starts[kCount + 1] = {};

  constexpr AICORE const char* operator[](size_t i) const { return text + starts[i]; }
};

constexpr AICORE bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Commas inside brackets do not separate parameters.
template <size_t kCount, size_t kTextBytes>
constexpr AICORE ParameterNames<kCount, kTextBytes> parameter_names(const char (&text)[kTextBytes]) {
  ParameterNames<kCount, kTextBytes> names;
  size_t written = 0;
  size_t begin = 0;
  int depth = 0;
  size_t parameter = 0;
  for (size_t i = 0; i < kTextBytes && parameter < kCount; ++i) {
    const char c = text[i];
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
    if (c != '\0' && (c != ',' || depth > 0)) continue;
    size_t end = i;
    while (end > begin && text[end - 1] == ' ') --end;
    size_t first = end;
    while (first > begin && is_name_character(text[first - 1])) --first;
    // A type alone: nothing stands before it.
    if (first == begin || (first == begin + 1 && text[begin] == ' ')) first = end;
    names.starts[parameter++] = written;
    while (first < end) names.text[written++] = text[first++];
    names.text[written++] = '\0';
    begin = i + 1;
  }
  return names;
}

}  // namespace baton::kernel
