// How an orchestration fails: with a number that its author knows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <baton/error.hpp>

namespace baton::orchestration {

/// "run failed with code -5: ...", with the name of the code, its meaning and where it happened.
[[nodiscard]] Error failure(std::int32_t code, const std::string& detail, const std::string& place);

/// What the author's numbers call an error of Baton; 0 if they have no number for it.
[[nodiscard]] std::int32_t number_of(Code code) noexcept;

/// Writes what an author's tools look for to standard error.
void print(const Error& failure);

}  // namespace baton::orchestration
