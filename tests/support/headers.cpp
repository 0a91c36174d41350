// Nothing: the target that precompiles headers.hpp needs a source.
