#include "node/worker_options.hpp"

#include <algorithm>

#include <baton/options.hpp>

#include "base/fail.hpp"
#include "base/quote.hpp"
#include "base/thread_count.hpp"
#include "chip/runtime/platform_kind.hpp"
#include "node/chips.hpp"
#include "node/task_message.hpp"

namespace baton::node {
namespace {

/// The environment names hosts for programs that name none. Without devices, there are as many chips as the hosts take.
void settle_chips(WorkerOptions& options) {
  if (options.isolation == Isolation::processes && options.hosts.empty()) {
    options.hosts = baton::options().hosts.value_or("");
  }
  if (options.hosts.empty()) {
    if (options.devices.empty()) options.devices = {0};
    return;
  }
  if (options.isolation == Isolation::inproc) {
    fail(Code::invalid_argument,
         "the hosts {} cannot have the chips of this worker, which are in this process: that is so for level 2, "
         "Isolation::inproc and platforms whose chips share devices, such as cuda",
         quote(options.hosts));
  }
  for (const job::HostShare& host : shares_of(options)) {
    for (int i = static_cast<int>(options.devices.size()); i < host.first_rank + host.count; ++i) {
      options.devices.push_back(i);
    }
  }
}

}  // namespace

WorkerOptions settled(WorkerOptions options) {
  if (options.level != 2 && options.level != 3) {
    fail(Code::invalid_argument, "there is no worker of level {}: 3 is a node, 2 one chip in this process",
         options.level);
  }
  if (options.level == 2 || chip::shares_devices(options.platform)) options.isolation = Isolation::inproc;
  settle_chips(options);
  if (options.level == 2) {
    if (options.devices.size() != 1) {
      fail(Code::invalid_argument, "a worker of level 2 is one chip; {} devices were given", options.devices.size());
    }
  }
  if (options.devices.empty() || options.devices.size() > kDomainRankMask) {
    fail(Code::invalid_argument, "a node of {} chips is not possible", options.devices.size());
  }
  for (std::size_t i = 0; i < options.devices.size(); ++i) {
    const int device = options.devices[i];
    if (device < 0) fail(Situation::device_numbers, "there is no device {}; devices are counted from 0", device);
    const auto earlier = std::find(options.devices.begin(), options.devices.end(), device) - options.devices.begin();
    if (static_cast<std::size_t>(earlier) < i) {
      fail(Situation::device_numbers, "chips {} and {} are both device {}; each device is one chip", earlier, i,
           device);
    }
  }
  check_thread_count("a chip", options.chip_threads);
  if (options.kernel_timeout && *options.kernel_timeout < std::chrono::nanoseconds(0)) {
    fail(Code::invalid_argument, "the time limit of kernels cannot be negative; 0 means none");
  }
  if (options.sub_workers < 1) {
    fail(Code::invalid_argument, "{} threads for host functions: at least 1", options.sub_workers);
  }
  check_thread_count("host functions of a worker", options.sub_workers);
  if (options.task_window == 0) fail(Code::invalid_argument, "a window of 0 tasks lets none run");
  return options;
}

}  // namespace baton::node
