#include "cli/tune/results_pipe.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/fail.hpp"

namespace baton::cli {
namespace {

constexpr const char* kEnd = "end\n";

}  // namespace

ResultsPipe::ResultsPipe(std::function<void(std::size_t count)> arrived)
    : arrived_(std::move(arrived)), folder_((std::filesystem::temp_directory_path() / "baton-tune-XXXXXX").string()) {
  if (::mkdtemp(folder_.data()) == nullptr) fail(Code::system, "no folder {}: {}", folder_, std::strerror(errno));
  path_ = folder_ + "/results";
  // Open for writing, too: it does not end before finish(), whoever opens and closes it.
  if (::mkfifo(path_.c_str(), S_IRUSR | S_IWUSR) == 0) pipe_ = UniqueFd(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  if (!pipe_) fail(Code::system, "no pipe {}: {}", path_, std::strerror(errno));
  reader_ = std::thread([this] { read_lines(); });
}

ResultsPipe::~ResultsPipe() {
  if (reader_.joinable()) static_cast<void>(finish());
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::vector<Measurement> ResultsPipe::finish() {
  // Short enough to be written at once, behind what the ranks wrote.
  if (::write(pipe_.get(), kEnd, std::strlen(kEnd)) < 0) fail(Code::system, "{}: {}", path_, std::strerror(errno));
  reader_.join();
  return measurements_;
}

void ResultsPipe::read_lines() {
  std::string rest;
  char bytes[512];
  while (true) {
    const ssize_t got = ::read(pipe_.get(), bytes, sizeof bytes);
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
