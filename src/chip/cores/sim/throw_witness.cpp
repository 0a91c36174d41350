#include "chip/cores/sim/throw_witness.hpp"

#include <execinfo.h>

#include <typeinfo>

#include "chip/cores/sim/fault_guard.hpp"

namespace baton::chip {

/// What a handler for ThrowWitness asks whether it catches. It does not.
class WitnessType : public std::type_info {
 public:
  explicit WitnessType(const char* name) : std::type_info(name) {}
  bool __do_catch(const std::type_info* /*thrown*/, void** /*object*/, unsigned /*outer*/) const override {
    if (FaultGuard* const guard = current_guarded_kernel().guard) {
      guard->caller_count = ::backtrace(guard->callers.data(), static_cast<int>(guard->callers.size()));
    }
    return false;
  }
};

// Under the name by which handlers find the type: that of `typeid(ThrowWitness)` in the C++ ABI. Made before all
// others: a program that is a chip of a node runs kernels while its static objects are being made.
extern const WitnessType kWitnessType __asm__("_ZTIN5baton4chip12ThrowWitnessE");
__attribute__((init_priority(101))) const WitnessType kWitnessType("N5baton4chip12ThrowWitnessE");

}  // namespace baton::chip
