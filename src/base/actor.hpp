// Who acts, beyond a rank: a kernel on a core.
#pragma once

#include <string>

namespace baton {

/// The one that acts on the calling fiber, or on the calling thread outside of fibers; null: the program itself.
[[nodiscard]] const void* current_actor() noexcept;

/// "kernel 'ring' (task 7) on vector core 3.1"; empty for the program. While `actor` waits, on any fiber of its thread.
[[nodiscard]] std::string describe_actor(const void* actor);

/// Who knows it: what makes actors, which are what fiber_local() names. The last one given counts.
void set_actor_describer(std::string (*given)(const void* actor));

}  // namespace baton
