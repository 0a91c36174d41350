#include "cli/tune/results_pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fail.hpp"
#include "base/service_thread.hpp"

namespace baton::cli {
namespace {

constexpr const char* kEnd = "end\n";

}  // namespace

ResultsPipe::ResultsPipe(std::function<void(std::size_t count)> arrived) : arrived_(std::move(arrived)) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_system("making a pipe for the results");
  in_ = UniqueFd(ends[0]);
  // Stays open here, too: the pipe does not end before finish(), no matter which process opens and closes it.
  out_ = UniqueFd(ends[1]);
  path_ = fmt::format("/proc/{}/fd/{}", ::getpid(), out_.get());
  reader_ = start_thread([this] { read_lines(); });
}

ResultsPipe::~ResultsPipe() {
  if (reader_.joinable()) static_cast<void>(finish());
}

std::vector<Measurement> ResultsPipe::finish() {
  // Short enough to be written at once, behind what the ranks wrote.
  if (::write(out_.get(), kEnd, std::strlen(kEnd)) < 0) fail_system("writing to the pipe of the results");
  reader_.join();
  return measurements_;
}

void ResultsPipe::read_lines() {
  std::string rest;
  char bytes[512];
  while (true) {
    const ssize_t got = ::read(in_.get(), bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    rest.append(bytes, static_cast<std::size_t>(got));
    for (std::size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
      const std::string line = rest.substr(0, end);
      rest.erase(0, end + 1);
      if (line + "\n" == kEnd) return;
      if (const auto measurement = parse_measurement(line)) {
        measurements_.push_back(*measurement);
        arrived_(measurements_.size());
      }
    }
  }
}

}  // namespace baton::cli
