#include "support/leftovers.hpp"

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace baton::test {
namespace {

bool sockets_are_isolated = false;

std::set<std::string> files_of_shared_memory() {
  std::set<std::string> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", ignored)) files.insert(entry.path());
  return files;
}

}  // namespace

bool isolate_sockets() {
  sockets_are_isolated = ::unshare(CLONE_NEWNET) == 0;
  return sockets_are_isolated;
}

Leftovers::Leftovers() : files_before_(files_of_shared_memory()) {}

std::vector<std::string> sockets_named(const std::vector<std::string>& parts) {
  std::vector<std::string> found;
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const std::size_t name = line.find('@');
    if (name == std::string::npos) continue;
    if (std::any_of(parts.begin(), parts.end(),
                    [&](const std::string& part) { return line.find(part, name) != std::string::npos; })) {
      found.push_back(line.substr(name));
    }
  }
  return found;
}

std::vector<std::string> Leftovers::found(const std::vector<std::string>& names) const {
  std::vector<std::string> left = sockets_named(sockets_are_isolated ? std::vector<std::string>{"baton"} : names);
  for (const std::string& file : files_of_shared_memory()) {
    // Files of other programs come and go; ours would bear our name. What tests record belongs to who runs them.
    const bool is_ours = file.find("baton") != std::string::npos && file.find("baton-recorded-") == std::string::npos;
    if (is_ours && !files_before_.contains(file)) left.push_back(file);
  }
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:baton") != std::string::npos) left.push_back(line);
  }
  return left;
}

}  // namespace baton::test
