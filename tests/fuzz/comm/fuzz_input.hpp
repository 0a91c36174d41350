// Taking an input apart, and sending what it says with any number of descriptors.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

namespace fuzz {

/// Reads an input from its beginning; zeros after its end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }

  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }

  /// The next `count` bytes, or as many as there are.
  std::vector<std::uint8_t> bytes(std::size_t count) {
    const auto taken = rest_.first(std::min(count, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return {taken.begin(), taken.end()};
  }

  /// Writes the next bytes over `object`.
  template <class T>
  void overwrite(T& object) {
    const std::vector<std::uint8_t> taken = bytes(sizeof object);
    if (!taken.empty()) std::memcpy(static_cast<void*>(&object), taken.data(), taken.size());
  }

 private:
  std::span<const std::uint8_t> rest_;
};

/// Sends `bytes` with `copies` of `descriptor`, to `to` unless null.
inline void send_with_descriptors(int socket, std::span<const std::uint8_t> bytes, int descriptor, std::size_t copies,
                                  const sockaddr* to = nullptr, socklen_t to_length = 0) {
  iovec piece{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_name = const_cast<sockaddr*>(to);
  message.msg_namelen = to_length;
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  std::vector<char> control(CMSG_SPACE(copies * sizeof(int)));
  if (copies > 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(copies * sizeof(int));
    const std::vector<int> descriptors(copies, descriptor);
    std::memcpy(CMSG_DATA(header), descriptors.data(), copies * sizeof(int));
  }
  static_cast<void>(::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT));
}

template <class T>
std::vector<std::uint8_t> bytes_of(const T& object) {
  std::vector<std::uint8_t> bytes(sizeof object);
  std::memcpy(bytes.data(), &object, sizeof object);
  return bytes;
}

/// All but pipes: libFuzzer opens some to a symbolizer when it names a function for the first time.
inline std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::count_if(all, {}, [](const std::filesystem::directory_entry& each) {
    std::error_code gone;
    return !std::filesystem::read_symlink(each, gone).string().starts_with("pipe:");
  });
}

}  // namespace fuzz
