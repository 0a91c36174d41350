// Domains of a node: windows over some of its chips.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <baton/export.hpp>
#include <baton/tensor.hpp>

namespace baton {

namespace node {
class WorkerState;
struct DomainRecord;
}  // namespace node

/// A buffer in the window of every member.
struct CommBufferSpec {
  std::string name;
  DType dtype = DType::float32;
  std::size_t count = 0;
  /// What is kept for it, if that is more than its elements need; without a count, as many elements as fit.
  std::size_t bytes = 0;
};

/// What one chip has of a domain.
struct DomainMember {
  int chip = 0;
  int domain_rank = 0;
  int domain_size = 0;
  /// For kernels: the address of its CommContext, in the address space of the chip.
  std::uint64_t device_ctx = 0;
  /// The start of its window, in the address space of the chip.
  std::uint64_t local_window_base = 0;
  std::size_t actual_window_size = 0;

  struct Placed {
    std::string name;
    Tensor tensor;              // for TaskArgs, copy_to() and copy_from()
    std::uint64_t address = 0;  // in the address space of the chip
    std::size_t offset = 0;     // from the start of the window
  };
  std::vector<Placed> buffers;

  /// The buffer of that name. Throws Error (invalid_argument) that lists the names there are.
  [[nodiscard]] BATON_API const Placed& buffer(std::string_view name) const;
};

/// Releases the windows with the object; safe while tasks that use them still run.
class BATON_API DomainHandle {
 public:
  DomainHandle() = default;
  DomainHandle(std::shared_ptr<node::WorkerState> worker, std::shared_ptr<node::DomainRecord> record) noexcept;
  DomainHandle(DomainHandle&& other) noexcept = default;
  DomainHandle& operator=(DomainHandle&& other) noexcept;
  ~DomainHandle();

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] int size() const;
  /// The members, as chips of the node, by rank.
  [[nodiscard]] const std::vector<int>& chips() const;
  /// The member that chip `chip` is. Throws Error: not_a_member, with the members; released.
  [[nodiscard]] const DomainMember& operator[](int chip) const;
  [[nodiscard]] bool contains(int chip) const;

  /// Chips unmap their windows after the tasks that were submitted to them before. Every later use is an error.
  void release();
  [[nodiscard]] bool released() const noexcept;

 private:
  [[nodiscard]] node::DomainRecord& record() const;

  std::shared_ptr<node::WorkerState> worker_;
  std::shared_ptr<node::DomainRecord> record_;
};

}  // namespace baton
