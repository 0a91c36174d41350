// Collectives that are started now and finished later, while the program does something else.
//
//   baton::Event sum = baton::start_allreduce(me, x);
//   ...                                              // x belongs to the collective
//   sum.wait();
//
// A thread of the domain makes them, one after the other, or a fiber where ranks are fibers: they go on whatever the
// program does. Several may be under way on one domain; a call that is not started (allreduce, barrier ...) is refused
// there meanwhile. It makes no difference to the others whether a rank starts a collective or calls it.
#pragma once

#include <memory>
#include <span>

#include <baton/collectives.hpp>
#include <baton/domain.hpp>
#include <baton/export.hpp>

namespace baton {

namespace collectives {
class StartedCall;
}

/// A collective under way. Its data, and the windows that the data names, must stay until it has ended. The end of the
/// object waits for that, and forgets what went wrong.
class BATON_API Event {
 public:
  Event() noexcept;
  explicit Event(std::unique_ptr<collectives::StartedCall> call) noexcept;
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  ~Event();

  /// Whether it has ended, well or not.
  [[nodiscard]] bool test() const noexcept;
  /// Returns when it has ended. Throws what it threw, each time.
  void wait() const;

 private:
  void finish() noexcept;
  std::unique_ptr<collectives::StartedCall> call_;
};

/// As the functions without start_. Arguments are checked at once.
[[nodiscard]] BATON_API Event start_barrier(const Domain& me, const CollectiveOptions& options = {});
[[nodiscard]] BATON_API Event start_broadcast(const Domain& me, Data x, int root,
                                              const CollectiveOptions& options = {});
[[nodiscard]] BATON_API Event start_reduce(const Domain& me, ConstData in, Data out, int root,
                                           ReduceOp op = ReduceOp::sum, const CollectiveOptions& options = {});
[[nodiscard]] BATON_API Event start_allreduce(const Domain& me, ConstData in, Data out, ReduceOp op = ReduceOp::sum,
                                              const CollectiveOptions& options = {});
[[nodiscard]] BATON_API Event start_allreduce(const Domain& me, Data x, ReduceOp op = ReduceOp::sum,
                                              const CollectiveOptions& options = {});
[[nodiscard]] BATON_API Event start_reduce_scatter(const Domain& me, ConstData in, Data out,
                                                   ReduceOp op = ReduceOp::sum, const CollectiveOptions& options = {});
[[nodiscard]] BATON_API Event start_allgather(const Domain& me, ConstData in, Data out,
                                              const CollectiveOptions& options = {});
[[nodiscard]] BATON_API Event start_gather(const Domain& me, ConstData in, Data out, int root,
                                           const CollectiveOptions& options = {});
[[nodiscard]] BATON_API Event start_scatter(const Domain& me, ConstData in, Data out, int root,
                                            const CollectiveOptions& options = {});
[[nodiscard]] BATON_API Event start_all_to_all(const Domain& me, ConstData in, Data out,
                                               const CollectiveOptions& options = {});
/// The counts are copied.
[[nodiscard]] BATON_API Event start_all_to_all_v(const Domain& me, ConstData in,
                                                 std::span<const std::size_t> send_counts, Data out,
                                                 std::span<const std::size_t> receive_counts,
                                                 const CollectiveOptions& options = {});

}  // namespace baton
