// A library as it was before the function `newer` was thought of.
extern "C" int basic(int value) { return value + 1; }
