// Reading and writing text in shared memory.
#pragma once

#include <string>
#include <string_view>

#include "wire/control.hpp"

namespace baton::wire {

/// Stores `text`, cut to what fits, so that others can read it while it changes.
template <std::size_t Bytes>
void store_text(SharedText<Bytes>& to, std::string_view text) noexcept;

/// The text, with everything that is not printable ASCII replaced: the bytes may come from anybody.
template <std::size_t Bytes>
[[nodiscard]] std::string load_text(const SharedText<Bytes>& from);

inline void store_name(SharedName& to, std::string_view name) noexcept { store_text(to, name); }
[[nodiscard]] inline std::string load_name(const SharedName& from) { return load_text(from); }

}  // namespace baton::wire
