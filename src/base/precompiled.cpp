// Nothing: the target that precompiles precompiled.hpp needs a source.
