// Where an exception was thrown that nobody in a kernel caught.
#pragma once

namespace baton::chip {

/// Never thrown. A handler for it sees each exception that comes by, before the frames that it leaves are gone: whether
/// they catch is asked of all handlers first, and this one notes who called whom in the guard of the kernel.
class ThrowWitness {
 public:
  // Defined nowhere, so that the compiler expects what describes this type elsewhere: in throw_witness.cpp.
  virtual ~ThrowWitness();
};

}  // namespace baton::chip
