// Where agents come in: everybody may connect, those who know the token get through.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "job/hosts/interfaces.hpp"
#include "job/hosts/tls_channel.hpp"
#include "job/launch/event_loop.hpp"

namespace baton::job {

/// A connection that does not prove in time that it knows the token is closed, and so is the one that has waited
/// longest when there are too many. Of those who are sent away, the first of each kind is worth a warning.
class JoinDesk {
 public:
  using Admit = std::function<void(std::unique_ptr<Channel>)>;

  struct Settings {
    std::string interface;  // to listen on; empty: all
    std::size_t expected;   // agents
    std::chrono::nanoseconds patience = kPatience;
    std::vector<std::uint16_t> ports = {};  // the first that is free; empty: the system chooses
  };
  static constexpr std::chrono::seconds kPatience{5};

  JoinDesk(EventLoop& loop, const JobToken& token, Settings settings, Admit admit);
  ~JoinDesk();
  JoinDesk(const JoinDesk&) = delete;
  JoinDesk& operator=(const JoinDesk&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return socket_.port; }
  [[nodiscard]] const std::vector<std::string>& addresses() const noexcept { return addresses_; }

  /// Sends those away whose time is up. Call every now and then.
  void look_at_clock();
  /// What the warnings said.
  [[nodiscard]] std::vector<std::string> refusals() const;
  /// A warning, unless there was one of the same kind.
  void refuse(int socket, const std::string& kind, const std::string& why);

 private:
  struct Stranger {
    std::unique_ptr<TlsChannel> channel;
    Deadline deadline;
  };
  using Place = std::list<Stranger>::iterator;

  void accept();
  void go_on(Place place);
  void watch(Place place);
  void send_away(Place place, const std::string& kind, const std::string& why);

  EventLoop& loop_;
  JobToken token_;
  Settings settings_;
  Admit admit_;
  std::vector<std::string> addresses_;
  ListeningSocket socket_;
  std::size_t most_;  // strangers at a time
  std::list<Stranger> strangers_;
  std::map<std::string, std::string> refusals_;  // the first, by kind
};

}  // namespace baton::job
