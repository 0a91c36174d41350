// The main function of a measuring program.
#pragma once

#include <cstdio>
#include <exception>
#include <initializer_list>
#include <stdexcept>
#include <string_view>

#include "support/arguments.hpp"
#include "support/process.hpp"

namespace bench {

/// `measure_all(arguments)` does all that is not common to such programs.
template <class MeasureAll>
[[nodiscard]] int contend(int argc, char** argv, MeasureAll&& measure_all) {
  try {
    const Arguments arguments = parse_arguments(argc, argv);
    limit_lifetime(arguments.limit_seconds);
    measure_all(arguments);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

/// What a program can measure, by the name of the operation.
struct Operation {
  std::string_view name;
  void (*measure)(const Arguments& arguments);
};

[[nodiscard]] inline int contend(int argc, char** argv, std::initializer_list<Operation> operations) {
  return contend(argc, argv, [&](const Arguments& arguments) {
    for (const Operation& operation : operations) {
      if (operation.name == arguments.operation) return operation.measure(arguments);
    }
    throw std::invalid_argument("unknown operation " + arguments.operation);
  });
}

}  // namespace bench
