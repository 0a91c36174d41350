// A window over chips: each member's memory, exported by a handle that the others import and map.
//
// Members are processes, because the runtime imports memory of other processes only. They meet through their group: the
// root information of their communicator and the handles travel there. Between hosts memory is known by handles of the
// fabric, which servers with A3 chips have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "platform/ascend/hccl.hpp"
#include "platform/ascend/npu.hpp"
#include "platform/shared/group.hpp"

namespace baton::ascend {

class Window {
 public:
  /// Collective over the group.
  Window(Npu& npu, const platforms::Group& group, std::size_t bytes);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window();

  /// By rank: where this chip finds the part of each member.
  [[nodiscard]] std::vector<std::uint64_t> parts() const;

  /// This chip does not reach the parts of others any more. Throws the first failure, after the rest.
  void leave();
  /// The same for everything.
  void close();

 private:
  struct Part {
    Handle memory = nullptr;  // physical
    void* address = nullptr;
    bool mapped = false;
  };
  /// What members tell each other first.
  struct Hello {
    std::int32_t process;  // as the driver knows it
    std::int32_t device;   // likewise
    RootInfo root;         // of rank 0
  };

  [[nodiscard]] Hello hello() const;
  void open(const platforms::Group& group, std::size_t bytes);
  void make_own(std::size_t bytes);
  [[nodiscard]] Shareable share(const platforms::Group& group, const std::vector<Hello>& members);
  void join(const RootInfo& root);
  void import(std::size_t member, Shareable& shareable, bool of_fabric);
  /// Addresses for the memory of a part, readable and writable.
  void map(Part& part);
  void release(Part& part, Ending& ending);
  void release_others(Ending& ending);
  void release_own(Ending& ending);

  Npu& npu_;
  std::uint32_t rank_;
  std::vector<Part> parts_;
  std::size_t part_bytes_ = 0;  // in whole units of the runtime
  Handle communicator_ = nullptr;
  bool is_closed_ = false;
};

}  // namespace baton::ascend
