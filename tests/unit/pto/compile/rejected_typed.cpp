// What BATON_KERNEL must not take, one case at a time (-DCASE=n).
#include <baton_kernel.hpp>

using namespace pto;

struct Large {
  int64_t words[2];
};

#if CASE == 0  // compiles: the cases fail for their own reason
BATON_KERNEL(good, In<float> x, Out<float, 2> y, float factor) {
  static_cast<void>(x.size() + y.size() + static_cast<int64_t>(factor));
}
#elif CASE == 1
BATON_KERNEL(bad, In<float>& x) { static_cast<void>(x); }
#elif CASE == 2
BATON_KERNEL(bad, In<Large> x) { static_cast<void>(x); }
#elif CASE == 3
BATON_KERNEL(bad, Large large) { static_cast<void>(large); }
#elif CASE == 4
BATON_KERNEL(bad, In<float> x) {
  Tile<TileType::Vec, float, 1, 8> tile;
  auto line = x.line(0, 8);
  TSTORE(line, tile);
}
#elif CASE == 5
BATON_KERNEL(bad, In<float, 1> x) { static_cast<void>(x.block()); }
#elif CASE == 6
BATON_KERNEL(bad, In<float, 6> x) { static_cast<void>(x); }
#elif CASE == 7
BATON_KERNEL_DECLARE(bad, baton::In<float> x);
BATON_KERNEL(bad, In<half> x) { static_cast<void>(x); }
#elif CASE == 8
BATON_KERNEL(bad, In<double> x) { static_cast<void>(x); }
#endif
