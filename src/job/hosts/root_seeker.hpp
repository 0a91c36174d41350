// Connects to the agent where a job gathers, which may not be there yet.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "job/hosts/interfaces.hpp"
#include "job/hosts/timer.hpp"
#include "job/hosts/tls_channel.hpp"
#include "job/launch/event_loop.hpp"

namespace baton::job {

/// Tries each port of each address in turn, and after a pause again. One thread; does not block, but to look up names.
class RootSeeker {
 public:
  /// Called once. It may destroy this object.
  using Found = std::function<void(std::unique_ptr<TlsChannel>)>;

  RootSeeker(EventLoop& loop, const JobToken& token, const std::vector<std::string>& roots,
             std::vector<std::uint16_t> ports, Found found);
  ~RootSeeker();
  RootSeeker(const RootSeeker&) = delete;
  RootSeeker& operator=(const RootSeeker&) = delete;

  /// What came of the last attempt at each place.
  [[nodiscard]] const std::vector<std::string>& troubles() const noexcept {
    return troubles_.empty() ? last_troubles_ : troubles_;
  }

 private:
  struct Place {
    std::string address;
    std::uint16_t port = 0;
  };

  void begin_round();
  void try_next();
  void on_connected();
  void shake_hands();
  void watch();
  void give_up(const std::string& why);
  void stop_watching();

  EventLoop& loop_;
  JobToken token_;
  std::map<std::string, std::vector<std::string>> roots_;  // name -> addresses, once they are known
  std::vector<std::uint16_t> ports_;
  Found found_;
  Timer attempt_;
  Timer pause_;
  std::deque<Place> places_;  // the first is being tried
  UniqueFd socket_;           // connects
  std::unique_ptr<TlsChannel> channel_;
  std::vector<std::string> troubles_;
  std::vector<std::string> last_troubles_;
};

}  // namespace baton::job
