#include <unistd.h>

extern "C" int basic(int value) { return value + 1; }
extern "C" int newer(int value) { return value * 2; }
// What it calls may be replaced.
extern "C" int asks_the_system() { return ::getppid(); }
