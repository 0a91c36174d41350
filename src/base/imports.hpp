// The functions that a loaded library calls in others, replaced by our own.
#pragma once

namespace baton {

/// From now on, calls of the function `name` by the library that contains the address `inside` go to `replacement`.
/// Those of everybody else stay what they are. False if that library has no such call that can be redirected.
[[nodiscard]] bool replace_import(const void* inside, const char* name, void* replacement) noexcept;

}  // namespace baton
