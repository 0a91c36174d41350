#include "job/host_list.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <numeric>
#include <set>

#include "base/fail.hpp"
#include "base/quote.hpp"
#include "base/text_file.hpp"

namespace baton::job {
namespace {

[[noreturn]] void refuse(std::string_view entry, std::string_view where) {
  fail(Situation::bad_host,
       "{}{} is not a host: write a, a:4 for four ranks on it, [fd00::1] or [fd00::1]:4 for an address of IPv6", where,
       quote(entry));
}

/// What a shell, ssh and a name server take without quotes.
bool is_host_name(std::string_view name) {
  return !name.empty() && name.front() != '-' && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' || c == '-' ||
           c == '_' || c == '@';
  });
}

bool is_ipv6_address(const std::string& text) {
  in6_addr address{};
  return ::inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

/// The name without brackets: ssh and a name server take no others.
HostSlots parse_host(std::string_view entry, std::string_view where) {
  const std::size_t bracket = entry.starts_with('[') ? entry.find(']') : std::string_view::npos;
  const bool bracketed = bracket != std::string_view::npos;
  const std::size_t colon = bracketed ? bracket + 1 : std::min(entry.find(':'), entry.size());
  HostSlots host{std::string(bracketed ? entry.substr(1, bracket - 1) : entry.substr(0, colon)), std::nullopt};
  if (bracketed ? !is_ipv6_address(host.name) : !is_host_name(host.name)) refuse(entry, where);
  if (colon == entry.size()) return host;
  if (entry[colon] != ':') refuse(entry, where);
  const std::string_view number = entry.substr(colon + 1);
  int slots = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), slots);
  if (error != std::errc() || end != number.data() + number.size() || slots < 1) refuse(entry, where);
  host.slots = slots;
  return host;
}

void require_distinct(const std::vector<HostSlots>& hosts) {
  std::set<std::string_view> seen;
  for (const HostSlots& host : hosts) {
    if (!seen.insert(host.name).second) {
      fail(Situation::bad_host, "host {} is named twice; {}:N gives it N ranks", quote(host.name), host.name);
    }
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace

std::vector<HostSlots> parse_hosts(std::string_view text) {
  std::vector<HostSlots> hosts;
  for (;;) {
    const std::size_t comma = text.find(',');
    hosts.push_back(parse_host(text.substr(0, comma), ""));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  require_distinct(hosts);
  return hosts;
}

std::vector<HostSlots> read_hostfile(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text && errno == ENOENT) {
    throw Error(Code::invalid_argument, fmt::format("there is no file of hosts {}", quote(path)), {},
                "Correct the path; it counts from the folder that the command was started in.");
  }
  if (!text && errno == ENODEV) fail(Situation::bad_host, "{} is a device, not a file of hosts", path);
  if (!text) fail_system("reading " + path);
  std::vector<HostSlots> hosts;
  int number = 0;
  for (std::string_view rest = *text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    ++number;
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::string where = fmt::format("{}:{}: ", path, number);
    const std::size_t space = line.find_first_of(" \t");
    if (space == std::string_view::npos) {
      hosts.push_back(parse_host(line, where));
      continue;
    }
    constexpr std::string_view kSlots = "slots=";
    const std::string_view slots = trim(line.substr(space));
    if (!slots.starts_with(kSlots)) refuse(line, where);
    hosts.push_back(parse_host(fmt::format("{}:{}", line.substr(0, space), slots.substr(kSlots.size())), where));
  }
  if (hosts.empty()) fail(Situation::bad_host, "{} names no host", path);
  require_distinct(hosts);
  return hosts;
}

std::vector<HostShare> share_ranks(const std::vector<HostSlots>& hosts, std::optional<int> ranks) {
  const auto with_slots = std::count_if(hosts.begin(), hosts.end(), [](const HostSlots& host) { return host.slots; });
  if (with_slots != 0 && with_slots != static_cast<std::ptrdiff_t>(hosts.size())) {
    const auto bare = std::find_if(hosts.begin(), hosts.end(), [](const HostSlots& host) { return !host.slots; });
    fail(Situation::ranks_and_hosts, "host {} has no number of ranks, others have one", quote(bare->name));
  }
  const int host_count = static_cast<int>(hosts.size());
  const int slots = std::accumulate(hosts.begin(), hosts.end(), 0,
                                    [](int sum, const HostSlots& host) { return sum + host.slots.value_or(1); });
  const int wanted = ranks.value_or(slots);
  if (with_slots != 0 && wanted > slots) {
    fail(Situation::ranks_and_hosts, "{} ranks do not fit: the hosts take {}", wanted, slots);
  }
  if (with_slots == 0 && wanted < host_count) {
    fail(Situation::ranks_and_hosts, "{} rank{} cannot be shared by {} hosts", wanted, wanted == 1 ? "" : "s",
         host_count);
  }
  std::vector<HostShare> shares;
  int next = 0;
  for (int i = 0; i < host_count && next < wanted; ++i) {
    const HostSlots& host = hosts[static_cast<std::size_t>(i)];
    const int even = wanted / host_count + (i < wanted % host_count ? 1 : 0);
    const int count = host.slots ? std::min(*host.slots, wanted - next) : even;
    shares.push_back({host.name, next, count});
    next += count;
  }
  return shares;
}

std::vector<std::string> names_by_rank(const std::vector<HostShare>& hosts) {
  std::vector<std::string> names;
  for (const HostShare& host : hosts) names.insert(names.end(), static_cast<std::size_t>(host.count), host.name);
  return names;
}

}  // namespace baton::job
