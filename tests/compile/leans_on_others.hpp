// Uses a type whose header it does not include: must not compile alone.
#pragma once

inline std::string leaning() { return {}; }
