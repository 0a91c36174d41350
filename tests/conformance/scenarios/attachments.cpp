// What libraries keep with a domain: made once, shared by all handles, gone with the last of them.
#include <memory>

#include "support/reach.hpp"
#include "support/require.hpp"
#include "support/scenario.hpp"

namespace {

using namespace baton;

const char kKey = 0;
const char kOtherKey = 0;

/// Counts its lives in a window that outlives it.
class Counted final : public Attachment {
 public:
  explicit Counted(Domain borrowed) : window_(borrowed.window<int>("kept", 4)) { window_[0] = 1; }
  [[nodiscard]] Window<int>& window() { return window_; }

 private:
  Window<int> window_;
};

std::unique_ptr<Attachment> make(Domain borrowed) { return std::make_unique<Counted>(std::move(borrowed)); }

}  // namespace

SCENARIO(AnAttachmentIsMadeOnceAndSharedByAllHandles, {}) {
  auto& first = static_cast<Counted&>(me.attachment(&kKey, make));
  const Domain copy = me;
  REQUIRE(&first == &copy.attachment(&kKey, make));
  REQUIRE(&first != &me.attachment(&kOtherKey, make));
  me.barrier();
  REQUIRE_EQUAL(test::load_from(first.window(), (me.rank() + 1) % me.size(), 0), 1);
  REQUIRE(first.window().belongs_to(me));
  Domain part = me.subset("part", std::vector<int>{0, 1, 2, 3});
  REQUIRE(&first != &part.attachment(&kKey, make));
  REQUIRE(!first.window().belongs_to(part));
  me.barrier();
}

SCENARIO(AnAttachmentKeepsNoDomainAlive, {}) {
  // Each round would leave a segment behind, and the job would never be left, if the window in it counted as a handle.
  for (int round = 0; round < 20; ++round) {
    Domain part = me.subset("part", std::vector<int>{3, 2, 1, 0});
    static_cast<void>(part.attachment(&kKey, make));
  }
  me.barrier();
}
