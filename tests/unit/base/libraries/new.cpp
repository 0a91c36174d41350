extern "C" int basic(int value) { return value + 1; }
extern "C" int newer(int value) { return value * 2; }
