// What the ranks of all hosts do, when somebody asks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/deadline.hpp"
#include "job/frames.hpp"

namespace baton::job {

/// Asks all hosts at once, however many want to know, and tells those that do. For the one to whom all are connected.
class HostsLook {
 public:
  using Ranks = std::vector<std::uint32_t>;
  struct Surroundings {
    std::uint32_t hosts = 0;
    std::function<bool(std::uint32_t host)> runs;  // whether there is somebody to ask
    std::function<Ranks(std::uint32_t host)> ranks_of;
    std::function<void(std::uint32_t host, std::string_view frame)> send;
    /// All has been told, but what ranks of hosts that did not answer do.
    std::function<void(std::span<const std::uint32_t> silent)> on_end;
  };

  explicit HostsLook(Surroundings around);

  /// A question during a look gets the next one.
  void begin();
  /// Somebody on `host` asks.
  void ask_from(std::uint32_t host);
  /// A frame of kind `seen` came.
  void on_seen(FrameReader frame);
  /// `host` has told what its ranks do.
  void on_looked(std::uint32_t host);
  /// A host does not run any more.
  void on_gone() { end_if_done(); }
  /// Again and again, a few times a second.
  void look_at_clock();
  [[nodiscard]] bool goes_on() const noexcept { return goes_on_; }

 private:
  struct Host {
    bool asks = false;   // somebody there, for the next look
    bool told = false;   // what the ranks of all hosts do
    bool looked = true;  // it has told what its own do
  };
  void end_if_done();
  void end();

  Surroundings around_;
  std::vector<Host> hosts_;
  bool goes_on_ = false;
  bool again_ = false;
  Deadline deadline_ = Deadline::never();
};

}  // namespace baton::job
