// One end of a stream of bytes that never blocks, encrypted or not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/unique_fd.hpp"

namespace baton::job {

/// What became of a transfer. `closed`: no byte will pass any more.
enum class TransferStatus : std::uint8_t { done, would_block, closed };
struct Transfer {
  TransferStatus status;
  std::size_t bytes = 0;
};

class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;

  [[nodiscard]] virtual int fd() const noexcept = 0;
  /// `done` with at least one byte, or one of the others.
  [[nodiscard]] virtual Transfer read(std::span<char> room) = 0;
  [[nodiscard]] virtual Transfer write(std::string_view bytes) = 0;
  /// Why it is closed, as it follows "the other end": "closed the connection", "does not answer".
  [[nodiscard]] virtual const std::string& why_closed() const noexcept = 0;
};

/// A connected socket as it is.
class PlainChannel final : public Channel {
 public:
  explicit PlainChannel(UniqueFd socket) noexcept : socket_(std::move(socket)) {}

  [[nodiscard]] int fd() const noexcept override { return socket_.get(); }
  [[nodiscard]] Transfer read(std::span<char> room) override;
  [[nodiscard]] Transfer write(std::string_view bytes) override;
  [[nodiscard]] const std::string& why_closed() const noexcept override { return why_; }

 private:
  [[nodiscard]] Transfer refused(long result);

  UniqueFd socket_;
  std::string why_;
};

/// In words, what an errno of a connection means: "does not answer" for those of a silent host.
[[nodiscard]] std::string describe_connection_error(int error_number);

}  // namespace baton::job
