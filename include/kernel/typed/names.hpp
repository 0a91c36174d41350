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

/// Where a name lies in a text.
struct NameRange {
  size_t first;
  size_t end;
};

/// The name of a parameter. Commas inside brackets do not separate parameters.
constexpr AICORE NameRange name_in(const char* text, size_t parameter) {
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0;; ++i) {
    const char c = text[i];
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
    if (c != '\0' && (c != ',' || depth > 0)) continue;
    if (parameter == 0) {
      size_t end = i;
      while (end > begin && text[end - 1] == ' ') --end;
      size_t first = end;
      while (first > begin && is_name_character(text[first - 1])) --first;
      // A type alone: nothing stands before it.
      if (first == begin || (first == begin + 1 && text[begin] == ' ')) first = end;
      return {first, end};
    }
    if (c == '\0') return {i, i};
    --parameter;
    begin = i + 1;
  }
}

template <size_t kCount, size_t kTextBytes>
constexpr AICORE ParameterNames<kCount, kTextBytes> parameter_names(const char (&text)[kTextBytes]) {
  ParameterNames<kCount, kTextBytes> names;
  size_t written = 0;
  for (size_t parameter = 0; parameter < kCount; ++parameter) {
    names.starts[parameter] = written;
    const NameRange name = name_in(text, parameter);
    for (size_t i = name.first; i < name.end; ++i) names.text[written++] = text[i];
    names.text[written++] = '\0';
  }
  return names;
}

}  // namespace baton::kernel
