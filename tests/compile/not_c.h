// Is no C: must not compile as such.
#pragma once

namespace baton {
int nothing();
}
