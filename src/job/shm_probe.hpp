// Whether this machine has what ranks in several processes need. Each probe really does what it asks about, and throws
// Error that says what went wrong.
#pragma once

#include <cstdint>

namespace baton::job {

/// Memory without a name, sealed against shrinking, mapped and written.
void probe_memory();

/// A descriptor sent over an abstract Unix socket, received and mapped.
void probe_mail();

/// A process sleeps on a futex in shared memory and is woken by another.
void probe_futex();

/// Whether a process may read and write memory of another one that has the same parent, as ranks have.
[[nodiscard]] bool probe_reading();

/// What is learnt of the end of a process that is another's child.
enum class DeathNews : std::uint8_t {
  none,        ///< Nothing without asking again and again.
  that_it_is,  ///< That it ended, at once.
  how_it_was,  ///< Also how.
};
[[nodiscard]] DeathNews probe_death();

}  // namespace baton::job
